package main

import (
	"context"
	"errors"

	"github.com/waku-org/go-waku/waku/v2/protocol"
	legacystore "github.com/waku-org/go-waku/waku/v2/protocol/legacy_store"
	"github.com/waku-org/go-waku/waku/v2/protocol/pb"
	"github.com/waku-org/go-waku/waku/v2/protocol/store"
)

// pagesResult holds the pages of one walk, in the order in which they came.
type pagesResult struct {
	Pages []page `json:"pages"`
}

type page struct {
	Messages []entry `json:"messages"`
	Cursor   any     `json:"cursor"`
}

type storeQueryArgs struct {
	header
	Addr          string     `json:"addr"`
	PubsubTopic   string     `json:"pubsubTopic"`
	ContentTopics []string   `json:"contentTopics"`
	TimeStart     *int64     `json:"timeStart,string"`
	TimeEnd       *int64     `json:"timeEnd,string"`
	MessageHashes []hexBytes `json:"messageHashes"`
	IncludeData   *bool      `json:"includeData"`
	Backward      bool       `json:"backward"`
	PageLimit     uint64     `json:"pageLimit"`
	Cursor        hexBytes   `json:"cursor"`
	MaxPages      int        `json:"maxPages"`
}

func (args storeQueryArgs) criteria() (store.Criteria, error) {
	if len(args.MessageHashes) == 0 {
		return store.FilterCriteria{
			ContentFilter: protocol.NewContentFilter(args.PubsubTopic, args.ContentTopics...),
			TimeStart:     args.TimeStart,
			TimeEnd:       args.TimeEnd,
		}, nil
	}
	if args.PubsubTopic != "" || len(args.ContentTopics) > 0 || args.TimeStart != nil || args.TimeEnd != nil {
		return nil, errors.New("go-waku looks up either by messageHashes or by the other criteria")
	}
	var criteria store.MessageHashCriteria
	for _, hash := range args.MessageHashes {
		if len(hash) != len(pb.MessageHash{}) {
			return nil, errors.New("a message hash is not of 32 bytes")
		}
		criteria.MessageHashes = append(criteria.MessageHashes, pb.ToMessageHash(hash))
	}
	return criteria, nil
}

func (p *peer) storeQuery(ctx context.Context, args storeQueryArgs) (any, error) {
	criteria, err := args.criteria()
	if err != nil {
		return nil, err
	}
	id, err := p.dial(ctx, args.Addr)
	if err != nil {
		return nil, err
	}
	options := []store.RequestOption{
		store.WithPeer(id),
		store.WithPaging(!args.Backward, args.PageLimit),
		store.IncludeData(isTrueOrUnset(args.IncludeData)),
		store.SkipRateLimit(),
	}
	if args.Cursor != nil {
		options = append(options, store.WithCursor(args.Cursor))
	}
	result, err := p.node.Store().Request(ctx, criteria, options...)
	if err != nil {
		return nil, err
	}

	pages := []page{}
	for {
		pages = append(pages, storePage(result))
		if result.Cursor() == nil || len(pages) >= args.MaxPages {
			return pagesResult{pages}, nil
		}
		if err := result.Next(ctx, store.SkipRateLimit()); err != nil {
			return nil, err
		}
	}
}

func storePage(result store.Result) page {
	next := page{Messages: []entry{}}
	for _, found := range result.Messages() {
		item := entry{Hash: found.MessageHash, PubsubTopic: found.GetPubsubTopic()}
		if found.Message != nil {
			item.Message = fromProto(found.Message)
		}
		next.Messages = append(next.Messages, item)
	}
	if cursor := result.Cursor(); cursor != nil {
		next.Cursor = hexBytes(cursor)
	}
	return next
}

type legacyStoreQueryArgs struct {
	header
	Addr          string        `json:"addr"`
	PubsubTopic   string        `json:"pubsubTopic"`
	ContentTopics []string      `json:"contentTopics"`
	TimeStart     *int64        `json:"timeStart,string"`
	TimeEnd       *int64        `json:"timeEnd,string"`
	Backward      bool          `json:"backward"`
	PageLimit     uint64        `json:"pageLimit"`
	Cursor        *legacyCursor `json:"cursor"`
	MaxPages      int           `json:"maxPages"`
}

func (p *peer) legacyStoreQuery(ctx context.Context, args legacyStoreQueryArgs) (any, error) {
	id, err := p.dial(ctx, args.Addr)
	if err != nil {
		return nil, err
	}
	query := legacystore.Query{
		PubsubTopic:   args.PubsubTopic,
		ContentTopics: args.ContentTopics,
		StartTime:     args.TimeStart,
		EndTime:       args.TimeEnd,
	}
	options := []legacystore.HistoryRequestOption{
		legacystore.WithPeer(id),
		legacystore.WithPaging(!args.Backward, args.PageLimit),
	}
	if args.Cursor != nil {
		options = append(options, legacystore.WithCursor(args.Cursor.toProto()))
	}
	legacy := p.node.LegacyStore()
	result, err := legacy.Query(ctx, query, options...)
	if err != nil {
		return nil, err
	}

	pages := []page{}
	for {
		pages = append(pages, legacyStorePage(result, args.PubsubTopic))
		if result.IsComplete() || len(pages) >= args.MaxPages {
			return pagesResult{pages}, nil
		}
		if result, err = legacy.Next(ctx, result); err != nil {
			return nil, err
		}
	}
}

// legacyStorePage computes the hashes, which this protocol does not carry, so
// there are none when the query names no pubsub topic.
func legacyStorePage(result *legacystore.Result, pubsubTopic string) page {
	next := page{Messages: []entry{}}
	for _, message := range result.Messages {
		item := entry{PubsubTopic: pubsubTopic, Message: fromProto(message)}
		if pubsubTopic != "" {
			item.Hash = message.Hash(pubsubTopic).Bytes()
		}
		next.Messages = append(next.Messages, item)
	}
	if cursor := result.Cursor(); cursor != nil {
		next.Cursor = fromIndex(cursor)
	}
	return next
}
