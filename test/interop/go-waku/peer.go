package main

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"net"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/waku-org/go-waku/waku/persistence"
	"github.com/waku-org/go-waku/waku/persistence/sqlite"
	"github.com/waku-org/go-waku/waku/v2/node"
	"github.com/waku-org/go-waku/waku/v2/peermanager"
	"github.com/waku-org/go-waku/waku/v2/protocol"
	"github.com/waku-org/go-waku/waku/v2/protocol/lightpush"
	"github.com/waku-org/go-waku/waku/v2/protocol/relay"
	"github.com/waku-org/go-waku/waku/v2/utils"
	"golang.org/x/time/rate"
)

// dialTimeout bounds each connection to a peer named by a flag.
const dialTimeout = 10 * time.Second

// receivedBuffer is how many relayed messages may wait to be noted; go-waku
// holds back every other subscriber when the buffer is full.
const receivedBuffer = 1024

// peer is a go-waku node and what the commands want to know about it.
type peer struct {
	node *node.WakuNode
	db   *sql.DB // nil in the client role

	mutex    sync.Mutex
	received []*protocol.Envelope
}

// startPeer starts a node on loopback: of every service in the serve role, of
// none in the client role.
func startPeer(ctx context.Context, cfg config) (*peer, error) {
	p := &peer{}
	options := []node.WakuNodeOption{
		node.WithLogLevel(cfg.logLevel),
		node.WithHostAddress(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}),
		node.WithMaxConnectionsPerIP(0),
		node.WithClusterID(cfg.cluster),
		// Even a client needs shards: with none, go-waku cannot read its own
		// record, and so neither asks for nor answers metadata.
		node.WithShards(cfg.shards),
	}
	if cfg.services {
		services, err := p.serviceOptions(cfg)
		if err != nil {
			return nil, err
		}
		options = append(options, services...)
	}

	var err error
	if p.node, err = node.New(options...); err != nil {
		return nil, err
	}
	if err := p.node.Start(ctx); err != nil {
		return nil, err
	}
	if cfg.services {
		if err := p.joinRelay(ctx, cfg); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *peer) serviceOptions(cfg config) ([]node.WakuNodeOption, error) {
	log := utils.Logger()
	var err error
	if p.db, err = sqlite.NewDB(cfg.dbPath, log); err != nil {
		return nil, err
	}
	archive, err := persistence.NewDBStore(prometheus.NewRegistry(), log,
		persistence.WithDB(p.db), persistence.WithMigrations(sqlite.Migrations))
	if err != nil {
		return nil, err
	}

	// Without a reader of topic health, go-waku's peer manager blocks for good
	// on the first peer that joins the mesh.
	health := make(chan peermanager.TopicHealthStatus)
	go func() {
		for range health {
		}
	}()

	pushLimit, pushBurst := rate.Inf, 1
	if cfg.pushRate > 0 {
		pushLimit, pushBurst = rate.Limit(cfg.pushRate), int(math.Ceil(cfg.pushRate))
	}
	return []node.WakuNodeOption{
		node.WithWebsockets("127.0.0.1", 0),
		node.WithWakuRelayAndMinPeers(1),
		node.WithTopicHealthStatusChannel(health),
		node.WithLightPush(lightpush.WithRateLimiter(pushLimit, pushBurst)),
		node.WithWakuFilterFullNode(),
		node.WithWakuStore(),
		node.WithMessageProvider(archive),
	}, nil
}

// joinRelay subscribes to each shard, notes what comes in, and connects to the
// peers that the flags name.
func (p *peer) joinRelay(ctx context.Context, cfg config) error {
	for _, shard := range cfg.shards {
		topic := protocol.NewStaticShardingPubsubTopic(cfg.cluster, shard).String()
		subscriptions, err := p.node.Relay().Subscribe(ctx, protocol.NewContentFilter(topic), relay.WithCacheSize(receivedBuffer))
		if err != nil {
			return fmt.Errorf("subscribe to %s: %w", topic, err)
		}
		for _, subscription := range subscriptions {
			go p.note(subscription.Ch)
		}
	}
	for _, addr := range cfg.peers {
		dialCtx, cancel := context.WithTimeout(ctx, dialTimeout)
		_, err := p.dial(dialCtx, addr)
		cancel()
		if err != nil {
			return fmt.Errorf("connect to %s: %w", addr, err)
		}
	}
	return nil
}

func (p *peer) note(relayed <-chan *protocol.Envelope) {
	for envelope := range relayed {
		p.mutex.Lock()
		p.received = append(p.received, envelope)
		p.mutex.Unlock()
	}
}

// stop ends the node in order, or the process if that takes too long.
func (p *peer) stop(timeout time.Duration) {
	defer time.AfterFunc(timeout, func() {
		fmt.Fprintln(os.Stderr, "go-waku-peer: the node did not stop in", timeout)
		os.Exit(1)
	}).Stop()
	p.node.Stop()
}
