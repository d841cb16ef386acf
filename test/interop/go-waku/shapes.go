package main

import (
	"encoding/hex"

	legacypb "github.com/waku-org/go-waku/waku/v2/protocol/legacy_store/pb"
	"github.com/waku-org/go-waku/waku/v2/protocol/pb"
)

// hexBytes are bytes that JSON shows as lower-case hex.
type hexBytes []byte

func (b hexBytes) MarshalText() ([]byte, error) {
	return []byte(hex.EncodeToString(b)), nil
}

func (b *hexBytes) UnmarshalText(text []byte) error {
	decoded, err := hex.DecodeString(string(text))
	*b = decoded
	return err
}

// wakuMessage is a message in JSON. Its timestamp is in nanoseconds, as decimal
// text since JavaScript numbers would round it.
type wakuMessage struct {
	Payload        hexBytes `json:"payload"`
	ContentTopic   string   `json:"contentTopic"`
	Version        *uint32  `json:"version,omitempty"`
	Timestamp      *int64   `json:"timestamp,string,omitempty"`
	Meta           hexBytes `json:"meta,omitempty"`
	Ephemeral      *bool    `json:"ephemeral,omitempty"`
	RateLimitProof hexBytes `json:"rateLimitProof,omitempty"`
}

func (m wakuMessage) toProto() *pb.WakuMessage {
	return &pb.WakuMessage{
		Payload:        m.Payload,
		ContentTopic:   m.ContentTopic,
		Version:        m.Version,
		Timestamp:      m.Timestamp,
		Meta:           m.Meta,
		Ephemeral:      m.Ephemeral,
		RateLimitProof: m.RateLimitProof,
	}
}

func fromProto(m *pb.WakuMessage) *wakuMessage {
	return &wakuMessage{
		Payload:        m.Payload,
		ContentTopic:   m.ContentTopic,
		Version:        m.Version,
		Timestamp:      m.Timestamp,
		Meta:           m.Meta,
		Ephemeral:      m.Ephemeral,
		RateLimitProof: m.RateLimitProof,
	}
}

// entry is a message as an answer lists it: what is unknown is left out.
type entry struct {
	Hash        hexBytes     `json:"hash,omitempty"`
	PubsubTopic string       `json:"pubsubTopic,omitempty"`
	Message     *wakuMessage `json:"message,omitempty"`
}

// legacyCursor is the Index of store 2.0.0-beta4.
type legacyCursor struct {
	Digest       hexBytes `json:"digest"`
	ReceiverTime int64    `json:"receiverTime,string"`
	SenderTime   int64    `json:"senderTime,string"`
	PubsubTopic  string   `json:"pubsubTopic"`
}

func (c legacyCursor) toProto() *legacypb.Index {
	return &legacypb.Index{
		Digest:       c.Digest,
		ReceiverTime: c.ReceiverTime,
		SenderTime:   c.SenderTime,
		PubsubTopic:  c.PubsubTopic,
	}
}

func fromIndex(index *legacypb.Index) legacyCursor {
	return legacyCursor{
		Digest:       index.Digest,
		ReceiverTime: index.ReceiverTime,
		SenderTime:   index.SenderTime,
		PubsubTopic:  index.PubsubTopic,
	}
}
