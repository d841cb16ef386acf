// Command go-waku-peer is the foreign peer of the interop tests: a go-waku node
// on loopback that is driven by JSON lines on stdin and answers on stdout.
// README.md has the commands.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/waku-org/go-waku/waku/v2/utils"
	"go.uber.org/zap/zapcore"
)

// stopTimeout bounds the orderly end, since go-waku's Stop has no bound.
const stopTimeout = 5 * time.Second

func main() {
	// go-waku's fallback logger writes to os.Stdout, which here belongs to the
	// answers. Naming /dev/stderr as its log file instead would fail where
	// stderr is a socket, as it is under Node's child_process.
	stdout := os.Stdout
	os.Stdout = os.Stderr

	if err := run(os.Args[1:], os.Stdin, stdout); err != nil {
		fmt.Fprintln(os.Stderr, "go-waku-peer:", err)
		os.Exit(1)
	}
}

func run(args []string, stdin io.Reader, stdout io.Writer) error {
	cfg, err := parseConfig(args)
	if err != nil {
		return err
	}
	utils.InitLogger("nocolor", "stdout", "go-waku", cfg.logLevel)

	p, err := startPeer(context.Background(), cfg)
	if err != nil {
		return err
	}
	defer p.stop(stopTimeout)

	out := json.NewEncoder(stdout)
	out.SetEscapeHTML(false)
	if err := out.Encode(p.ready()); err != nil {
		return err
	}
	return serveCommands(p, bufio.NewReader(stdin), out)
}

// serveCommands answers one command after the other, until "stop" or the end
// of the input.
func serveCommands(p *peer, in *bufio.Reader, out *json.Encoder) error {
	for {
		line, readErr := in.ReadBytes('\n')
		if len(strings.TrimSpace(string(line))) > 0 {
			reply, stop := p.handle(line)
			if err := out.Encode(reply); err != nil {
				return err
			}
			if stop {
				return nil
			}
		}
		if readErr == io.EOF {
			return nil
		}
		if readErr != nil {
			return readErr
		}
	}
}

// config is what the command line says. Only the serve role has services and
// what belongs to them.
type config struct {
	services bool
	cluster  uint16
	shards   []uint16
	dbPath   string
	pushRate float64
	peers    []string
	logLevel zapcore.Level
}

func parseConfig(args []string) (config, error) {
	if len(args) == 0 {
		return config{}, fmt.Errorf("want a role: serve or client")
	}
	cfg := config{logLevel: zapcore.ErrorLevel, shards: []uint16{0}}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.Func("cluster", "cluster `id` (default 0: metadata of others goes unchecked)", func(text string) (err error) {
		cfg.cluster, err = parseUint16(text)
		return err
	})
	flags.Func("shards", "comma-separated shard `numbers` (default 0)", func(text string) error {
		cfg.shards = nil
		for _, part := range strings.Split(text, ",") {
			shard, err := parseUint16(part)
			if err != nil {
				return err
			}
			cfg.shards = append(cfg.shards, shard)
		}
		return nil
	})
	flags.Var(&cfg.logLevel, "log-level", "lowest `level` that is logged to stderr: debug, info, warn, error")

	switch args[0] {
	case "client":
	case "serve":
		cfg.services = true
		flags.StringVar(&cfg.dbPath, "db", ":memory:", "`path` of the SQLite archive")
		flags.Float64Var(&cfg.pushRate, "push-rate", 1, "light pushes a second accepted from one peer; 0 for no limit")
		flags.Func("peer", "`multiaddr` of a peer to connect to before getting ready; may be repeated", func(text string) error {
			cfg.peers = append(cfg.peers, text)
			return nil
		})
	default:
		return config{}, fmt.Errorf("unknown role %q: want serve or client", args[0])
	}

	if err := flags.Parse(args[1:]); err != nil {
		return config{}, err
	}
	if flags.NArg() > 0 {
		return config{}, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if cfg.pushRate < 0 {
		return config{}, fmt.Errorf("push-rate is negative")
	}
	return cfg, nil
}

func parseUint16(text string) (uint16, error) {
	value, err := strconv.ParseUint(text, 10, 16)
	return uint16(value), err
}
