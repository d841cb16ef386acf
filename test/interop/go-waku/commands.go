package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	libp2ppeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/waku-org/go-waku/waku/v2/protocol/lightpush"
	"github.com/waku-org/go-waku/waku/v2/protocol/relay"
)

// defaultTimeout bounds a command that names no timeoutMs.
const defaultTimeout = 10 * time.Second

var errNoServices = errors.New("only a peer started with serve can do this")

// header is what every command may carry.
type header struct {
	ID        json.RawMessage `json:"id"`
	Cmd       string          `json:"cmd"`
	TimeoutMs int64           `json:"timeoutMs"`
}

// reply is the answer to a command: its id, and a result or an error.
type reply struct {
	ID     json.RawMessage `json:"id"`
	Result any             `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// handle runs the command on one line. It also tells whether it was the last.
func (p *peer) handle(line []byte) (answer reply, stop bool) {
	var head header
	if err := json.Unmarshal(line, &head); err != nil {
		return reply{Error: "not a command: " + err.Error()}, false
	}
	timeout := defaultTimeout
	if head.TimeoutMs > 0 {
		timeout = time.Duration(head.TimeoutMs) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()

	result, err := p.dispatch(ctx, head.Cmd, line)
	if err != nil {
		return reply{ID: head.ID, Error: err.Error()}, false
	}
	return reply{ID: head.ID, Result: result}, head.Cmd == "stop"
}

func (p *peer) dispatch(ctx context.Context, cmd string, line []byte) (any, error) {
	switch cmd {
	case "connect":
		return call(ctx, line, p.connect)
	case "peers":
		return call(ctx, line, p.peers)
	case "relayPeers":
		return call(ctx, line, p.relayPeers)
	case "publish":
		return call(ctx, line, p.publish)
	case "received":
		return call(ctx, line, p.listReceived)
	case "stored":
		return call(ctx, line, p.listStored)
	case "lightPush":
		return call(ctx, line, p.lightPush)
	case "storeQuery":
		return call(ctx, line, p.storeQuery)
	case "legacyStoreQuery":
		return call(ctx, line, p.legacyStoreQuery)
	case "stop":
		return struct{}{}, nil
	default:
		return nil, fmt.Errorf("unknown command %q", cmd)
	}
}

// call decodes a command's arguments, refusing any that it does not have.
func call[A any](ctx context.Context, line []byte, run func(context.Context, A) (any, error)) (any, error) {
	var args A
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&args); err != nil {
		return nil, fmt.Errorf("bad arguments: %w", err)
	}
	return run(ctx, args)
}

type readyLine struct {
	PeerID     string   `json:"peerId"`
	Multiaddrs []string `json:"multiaddrs"`
}

func (p *peer) ready() readyLine {
	line := readyLine{PeerID: p.node.ID(), Multiaddrs: []string{}}
	for _, addr := range p.node.ListenAddresses() {
		line.Multiaddrs = append(line.Multiaddrs, addr.String())
	}
	return line
}

type connectArgs struct {
	header
	Addr string `json:"addr"`
}

type connectResult struct {
	PeerID string `json:"peerId"`
}

func (p *peer) connect(ctx context.Context, args connectArgs) (any, error) {
	id, err := p.dial(ctx, args.Addr)
	if err != nil {
		return nil, err
	}
	return connectResult{id.String()}, nil
}

// dial connects to a peer, unless it is connected. Every client command dials
// first: go-waku's own way, WithPeerAddr, dials in the background and races
// with the request.
func (p *peer) dial(ctx context.Context, addr string) (libp2ppeer.ID, error) {
	info, err := libp2ppeer.AddrInfoFromString(addr)
	if err != nil {
		return "", err
	}
	return info.ID, p.node.DialPeerWithInfo(ctx, *info)
}

type peersResult struct {
	Peers []string `json:"peers"`
}

func (p *peer) peers(_ context.Context, _ header) (any, error) {
	return peersResult{peerIDs(p.node.Host().Network().Peers())}, nil
}

type relayPeersArgs struct {
	header
	PubsubTopic string `json:"pubsubTopic"`
}

type relayPeersResult struct {
	Subscribed []string `json:"subscribed"`
	Mesh       []string `json:"mesh"`
}

func (p *peer) relayPeers(_ context.Context, args relayPeersArgs) (any, error) {
	if p.db == nil {
		return nil, errNoServices
	}
	pubsub := p.node.Relay().PubSub()
	return relayPeersResult{
		Subscribed: peerIDs(pubsub.ListPeers(args.PubsubTopic)),
		Mesh:       peerIDs(pubsub.MeshPeers(args.PubsubTopic)),
	}, nil
}

func peerIDs(ids []libp2ppeer.ID) []string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return texts
}

type publishArgs struct {
	header
	PubsubTopic string      `json:"pubsubTopic"`
	Message     wakuMessage `json:"message"`
}

type hashResult struct {
	Hash hexBytes `json:"hash"`
}

func (p *peer) publish(ctx context.Context, args publishArgs) (any, error) {
	if p.db == nil {
		return nil, errNoServices
	}
	hash, err := p.node.Relay().Publish(ctx, args.Message.toProto(), relay.WithPubSubTopic(args.PubsubTopic))
	if err != nil {
		return nil, err
	}
	return hashResult{hash.Bytes()}, nil
}

type messagesResult struct {
	Messages []entry `json:"messages"`
}

type receivedArgs struct {
	header
	IncludeData *bool `json:"includeData"`
}

func (p *peer) listReceived(_ context.Context, args receivedArgs) (any, error) {
	if p.db == nil {
		return nil, errNoServices
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	messages := make([]entry, len(p.received))
	for i, envelope := range p.received {
		messages[i] = entry{Hash: envelope.Hash().Bytes(), PubsubTopic: envelope.PubsubTopic()}
		if isTrueOrUnset(args.IncludeData) {
			messages[i].Message = fromProto(envelope.Message())
		}
	}
	return messagesResult{messages}, nil
}

// listStored reads the hashes as they were stored. They cannot be computed
// from what go-waku reads back, which lacks the meta field.
func (p *peer) listStored(ctx context.Context, _ header) (any, error) {
	if p.db == nil {
		return nil, errNoServices
	}
	rows, err := p.db.QueryContext(ctx, "SELECT messageHash, pubsubTopic FROM message ORDER BY timestamp, messageHash")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	messages := []entry{}
	for rows.Next() {
		var hash []byte
		var topic string
		if err := rows.Scan(&hash, &topic); err != nil {
			return nil, err
		}
		messages = append(messages, entry{Hash: hash, PubsubTopic: topic})
	}
	return messagesResult{messages}, rows.Err()
}

type lightPushArgs struct {
	header
	Addr        string      `json:"addr"`
	PubsubTopic string      `json:"pubsubTopic"`
	Message     wakuMessage `json:"message"`
}

func (p *peer) lightPush(ctx context.Context, args lightPushArgs) (any, error) {
	id, err := p.dial(ctx, args.Addr)
	if err != nil {
		return nil, err
	}
	hash, err := p.node.Lightpush().Publish(ctx, args.Message.toProto(),
		lightpush.WithPubSubTopic(args.PubsubTopic), lightpush.WithPeer(id))
	if err != nil {
		return nil, err
	}
	return hashResult{hash.Bytes()}, nil
}

func isTrueOrUnset(flag *bool) bool {
	return flag == nil || *flag
}
