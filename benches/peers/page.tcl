# One person's web pages beside uploads in ns-2: who closes a connection decides what the next SYN follows.
#
#   ns page.tcl [-closing browser|server] [-flows N] [-seed N] [-duration S] [-warmup S] [-sizes "SERVER:BYTES ..."]
#
# Prints one JSON object. Needs an ns with the queue CoDel, see README.md.
#
#   client --(5 Mb/s, 0 ms, CoDel; back 100 Mb/s)-- router --(1 Gb/s)-- four servers at 20, 30, 50, 100 ms
#
# The page is that of the scenario `witness_sojourn.py` runs: an index of server 0, then up to six connections to each
# server, one object on each, five seconds of reading.

array set option {-closing browser -flows 5 -seed 1 -duration 600 -warmup 5 -limit 417 -request 250 -index 102400 -sizes {}}
foreach {name value} $argv {
    if {![info exists option($name)]} {
        puts stderr "page.tcl: unknown option $name; known: [lsort [array names option]]"
        exit 2
    }
    set option($name) $value
}
set web_flow 2000
set round_trips {20 30 50 100}

Agent/TCP set packetSize_ 1460
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCP set timestamps_ true
Agent/TCP set ts_option_size_ 0
Agent/TCP set windowInit_ 4
Agent/TCP set window_ 667
Agent/TCPSink set ts_echo_rfc1323_ true
Agent/TCP/FullTcp set segsize_ 1460
Agent/TCP/FullTcp set ts_option_size_ 10
Agent/TCP/FullTcp set segsperack_ 1
Agent/TCP/FullTcp set interval_ 0.4
Agent/TCP set rtxcur_init_ 3.0
Agent/TCP set maxrto_ 60
Queue/CoDel set target_ 0.005
Queue/CoDel set interval_ 0.1

# Uploads discard samples of delay in the first second of the simulator.
set origin 2.0
set option(-duration) [expr {$option(-duration) + $origin}]
set option(-warmup) [expr {$option(-warmup) + $origin}]

set ns [new Simulator]
$ns use-scheduler Calendar
set client [$ns node]
set router [$ns node]
$ns simplex-link $client $router 5Mb 0ms CoDel
$ns simplex-link $router $client 100Mb 0ms DropTail
$ns queue-limit $client $router $option(-limit)
$ns queue-limit $router $client 10000
foreach round_trip $round_trips {
    set server [$ns node]
    $ns duplex-link $router $server 1Gb [expr {$round_trip / 2.0}]ms DropTail
    $ns queue-limit $router $server 10000
    $ns queue-limit $server $router 10000
    lappend servers $server
}

set random [new RNG]
$random seed [expr {12345 + $option(-seed)}]
for {set flow 0} {$flow < $option(-flows)} {incr flow} {
    set source [new Agent/TCP/Linux]
    set sink [new Agent/TCPSink/Sack1]
    $ns attach-agent $client $source
    $ns attach-agent [lindex $servers 0] $sink
    $ns connect $source $sink
    $source set fid_ $flow
    set file [new Application/FTP]
    $file attach-agent $source
    set start [expr {$origin + [$random uniform 0 1]}]
    $ns at $start "$source select_ca cubic"
    $ns at $start "$file start"
}

# Fetch one object of a page over a connection of its own.
proc fetch {server bytes} {
    global ns client servers option web_flow asked
    set browser [new Agent/TCP/FullTcp/Sack]
    set daemon [new Agent/TCP/FullTcp/Sack]
    $browser set fid_ $web_flow
    $daemon set fid_ $web_flow
    $ns attach-agent $client $browser
    $ns attach-agent [lindex $servers $server] $daemon
    $ns connect $browser $daemon
    $daemon listen
    set asks [new Application/TcpApp $browser]
    set answers [new Application/TcpApp $daemon]
    $asks connect $answers
    $asks send $option(-request) "respond $answers $daemon $bytes {complete $server $browser}"
}

proc respond {answers daemon bytes then} {
    global option
    if {$option(-closing) eq "server"} {
        $daemon set close_on_empty_ true   ;# its FIN rides on the last segment, as with MSG_EOF
    }
    $answers send $bytes $then
}

# Called by the agent before it acknowledges the object's last byte.
proc complete {server browser} {
    global ns option waiting left began pages page_ends index_done
    if {$option(-closing) eq "browser"} {
        $browser close
    }
    if {!$index_done} {
        set index_done 1
        for {set connection 0} {$connection < 6} {incr connection} {
            for {set server 0} {$server < 4} {incr server} {
                next $server
            }
        }
        return
    }
    incr left -1
    if {$left == 0} {
        if {$began >= $option(-warmup)} {
            lappend pages [expr {[$ns now] - $began}]
        }
        $ns at [expr {[$ns now] + 5.0}] begin
    } else {
        next $server
    }
}

proc next {server} {
    global waiting
    if {[llength $waiting($server)] > 0} {
        set bytes [lindex $waiting($server) 0]
        set waiting($server) [lrange $waiting($server) 1 end]
        fetch $server $bytes
    }
}

proc begin {} {
    global ns option waiting left began index_done begun
    for {set server 0} {$server < 4} {incr server} {
        set waiting($server) {}
    }
    foreach object $option(-sizes) {
        lassign [split $object :] server bytes
        lappend waiting($server) $bytes
    }
    set left [llength $option(-sizes)]
    set began [$ns now]
    set index_done 0
    fetch 0 $option(-index)
}

set pages {}
if {[llength $option(-sizes)] == 0} {
    for {set number 0} {$number < 100} {incr number} {
        lappend option(-sizes) "[expr {$number % 4}]:25000"
    }
}
$ns at [expr {$origin + 1.0 + [$random uniform 0 0.02]}] begin

# Columns of a trace with headers of TCP: event, time, from, to, type, bytes, marks, flow, source, destination,
# number, identity, acknowledgement, flags of TCP, header, source port.
set count {
    $2 >= warmup && $1 == "-" { bytes += $6 }
    $2 >= warmup && $8 == web && ($14 == "0x2" || $14 == "0xa") { if ($1 == "+") ++syns; if ($1 == "d") ++syns_lost }
    $2 >= warmup && $8 == web { if ($1 == "+") ++web_packets; if ($1 == "d") ++web_lost }
    $2 >= warmup && $1 == "d" { ++lost }
    END { printf "%.0f %d %d %d %d %d\n", bytes, lost, syns, syns_lost, web_packets, web_lost }
}
Trace set show_tcphdr_ 1
set pipe [open "|awk -v warmup=$option(-warmup) -v web=$web_flow {$count}" r+]
$ns trace-queue $client $router $pipe
$ns at $option(-duration) finish

proc finish {} {
    global ns option pipe pages
    $ns flush-trace
    chan close $pipe write
    lassign [gets $pipe] bytes lost syns syns_lost web_packets web_lost
    set pages [lsort -real $pages]
    set sum 0.0
    foreach page $pages {
        set sum [expr {$sum + $page}]
    }
    set count [llength $pages]
    set seconds [expr {$option(-duration) - $option(-warmup)}]
    puts [format "{\"throughput_mbps\": %.6f, \"pages\": %d, \"page_mean_s\": %.6f, \"page_median_s\": %.6f,\
\"syns_lost_per_page\": %.6f, \"syns_lost_share\": %.6f, \"web_lost_share\": %.6f, \"losses\": %d}" \
        [expr {$bytes * 8e-6 / $seconds}] $count [expr {$sum / max($count, 1)}] \
        [lindex $pages [expr {max(($count + 1) / 2, 1) - 1}]] \
        [expr {double($syns_lost) / max($count, 1)}] [expr {double($syns_lost) / max($syns, 1)}] \
        [expr {double($web_lost) / max($web_packets, 1)}] $lost]
    exit 0
}

$ns run
