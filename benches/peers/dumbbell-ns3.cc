// The dumbbell in ns-3: uploads and one stream over a line of constant rate behind a queue disc.
//
// Prints one JSON object; `benches/peers/README.md` says what its keys mean and what is equal
// in the other simulators. Compiled against the ns-3 that the system has, never part of Sojourn.
//
//   client ==(5 Mb/s, 0 ms; back 100 Mb/s)== router ==(1 Gb/s, 10 ms)== server

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/log.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <unordered_map>
#include <vector>

namespace ns3
{

// CUBIC of RFC 9438 without its region of Reno, in real numbers. ns-3's own TcpCubic rounds its curve down to
// whole segments; running both tells what of a difference that explains, and what is left.
class TcpCubicInReals : public TcpCongestionOps
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("ns3::TcpCubicInReals")
                               .SetParent<TcpCongestionOps>()
                               .AddConstructor<TcpCubicInReals>();
        return id;
    }

    std::string GetName() const override
    {
        return "TcpCubicInReals";
    }

    void IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t acked) override
    {
        const double segment = tcb->m_segmentSize;
        if (tcb->m_cWnd < tcb->m_ssThresh)
        {
            tcb->m_cWnd += acked * tcb->m_segmentSize;
            return;
        }
        const double window = tcb->m_cWnd / segment;
        const double now = Simulator::Now().GetSeconds();
        if (m_epoch < 0)
        {
            m_epoch = now;
            m_plateau = std::max(m_plateau, window);
            m_k = std::cbrt((m_plateau - window) / SCALE);
        }
        const double x = now - m_epoch + tcb->m_lastRtt.Get().GetSeconds() - m_k;
        const double target = std::clamp(SCALE * x * x * x + m_plateau, window, 1.5 * window);
        m_rest += acked * (target - window) / window * segment;
        const double whole = std::floor(m_rest);
        m_rest -= whole;
        tcb->m_cWnd += static_cast<uint32_t>(whole);
    }

    uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t) override
    {
        const double segment = tcb->m_segmentSize;
        const double window = tcb->m_cWnd / segment;
        m_plateau = window < m_plateau ? window * (1 + BETA) / 2 : window;
        m_epoch = -1;
        return static_cast<uint32_t>(std::max(window * BETA, 2.0) * segment);
    }

    void CongestionStateSet(Ptr<TcpSocketState>, const TcpSocketState::TcpCongState_t state) override
    {
        if (state == TcpSocketState::CA_LOSS)
        {
            m_plateau = 0;
        }
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<TcpCubicInReals>(this);
    }

  private:
    static constexpr double SCALE = 0.4; // RFC 9438 section 5.1
    static constexpr double BETA = 0.7;  // RFC 9438 section 4.6
    double m_epoch = -1;                 // seconds; negative before the first growth after a reduction
    double m_plateau = 0;                // segments
    double m_k = 0;                      // seconds from the start of the epoch to the plateau
    double m_rest = 0;                   // bytes by which the window is larger than it says
};

NS_OBJECT_ENSURE_REGISTERED(TcpCubicInReals);

} // namespace ns3

using namespace ns3;

namespace
{

// Point-to-point devices put a PPP header of 2 B in front of each packet. IP packets are smaller by
// that much, so that 1500 B and 218 B pass the wire as in the other simulators.
constexpr uint32_t LINK_HEADER = 2;
constexpr uint32_t FULL_PACKET = 1500;
constexpr uint32_t STREAM_PACKET = 218;
constexpr uint32_t IP_AND_UDP = 20 + 8;
constexpr uint32_t IP_AND_TCP_WITH_TIMESTAMPS = 20 + 20 + 12;
constexpr uint32_t SEGMENT = FULL_PACKET - LINK_HEADER - IP_AND_TCP_WITH_TIMESTAMPS;
constexpr uint8_t UDP = 17;

double g_warm_up = 5;
uint64_t g_forwarded_bytes = 0;
uint64_t g_dropped = 0;
uint64_t g_stream_dropped = 0;
std::vector<double> g_waits_ms;   // from the queue disc to the first bit on the wire
double g_managed_ms = 0;          // of that, in the queue disc

struct Waiting
{
    Time since;
    Time left_disc;
};

std::unordered_map<uint64_t, Waiting> g_waiting;
Ptr<NetDeviceQueue> g_device_queue;

bool
OfStream(Ptr<const QueueDiscItem> item)
{
    auto ip = DynamicCast<const Ipv4QueueDiscItem>(item);
    return ip && ip->GetHeader().GetProtocol() == UDP;
}

bool
Warm(Time since)
{
    return since.GetSeconds() >= g_warm_up;
}

void
OnEnqueue(Ptr<const QueueDiscItem> item)
{
    if (OfStream(item) && Warm(Now()))
    {
        g_waiting[item->GetPacket()->GetUid()] = {Now(), Now()};
    }
}

void
OnDequeue(Ptr<const QueueDiscItem> item)
{
    auto found = g_waiting.find(item->GetPacket()->GetUid());
    if (found != g_waiting.end())
    {
        found->second.left_disc = Now();
    }
}

void
OnDrop(Ptr<const QueueDiscItem> item)
{
    if (!Warm(Now()))
    {
        return;
    }
    ++g_dropped;
    if (OfStream(item))
    {
        ++g_stream_dropped;
    }
}

void
OnTransmit(Ptr<const Packet> packet)
{
    if (Warm(Now()))
    {
        g_forwarded_bytes += packet->GetSize();
    }
    auto found = g_waiting.find(packet->GetUid());
    if (found != g_waiting.end())
    {
        const auto& waited = found->second;
        g_waits_ms.push_back((Now() - waited.since).GetSeconds() * 1e3);
        g_managed_ms += (waited.left_disc - waited.since).GetSeconds() * 1e3;
        g_waiting.erase(found);
    }
}

// Without a queue in the device: it is stopped while a packet is on the wire.
void
StopDevice(Ptr<const Packet>)
{
    g_device_queue->Stop();
}

void
WakeDevice(Ptr<const Packet>)
{
    Simulator::ScheduleNow([] { g_device_queue->Wake(); });
}

// The smallest value that at least the share p does not exceed, as Sojourn counts packets.
double
Quantile(const std::vector<double>& sorted, double p)
{
    if (sorted.empty())
    {
        return 0;
    }
    auto rank = static_cast<size_t>(std::ceil(p * static_cast<double>(sorted.size())));
    return sorted[std::max<size_t>(rank, 1) - 1];
}

void
ConfigureTcp(const std::string& growth, Time minimum_timeout)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::Tcp" + growth));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4000000));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(minimum_timeout));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));
}

void
SetQueueDisc(const std::string& queue, const std::string& limit, TrafficControlHelper& helper)
{
    if (queue == "drop-tail")
    {
        helper.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue(limit));
    }
    else if (queue == "codel")
    {
        helper.SetRootQueueDisc("ns3::CoDelQueueDisc", "MaxSize", StringValue(limit));
    }
    else if (queue == "pie")
    {
        helper.SetRootQueueDisc("ns3::PieQueueDisc", "MaxSize", StringValue(limit));
    }
    else if (queue == "fq-codel")
    {
        helper.SetRootQueueDisc("ns3::FqCoDelQueueDisc", "MaxSize", StringValue(limit));
    }
    else if (queue == "red" || queue == "red-ecn")
    {
        // The rule of Akhtar 2013 for 120 packets at 5 Mb/s: a sixth of the buffer, the buffer, 4 %, and
        // the time of a packet over 250 ms.
        helper.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize", StringValue("120p"));
        Config::SetDefault("ns3::RedQueueDisc::MinTh", DoubleValue(20));
        Config::SetDefault("ns3::RedQueueDisc::MaxTh", DoubleValue(120));
        Config::SetDefault("ns3::RedQueueDisc::LInterm", DoubleValue(25));
        Config::SetDefault("ns3::RedQueueDisc::QW", DoubleValue(0.0096));
        Config::SetDefault("ns3::RedQueueDisc::Gentle", BooleanValue(false));
        Config::SetDefault("ns3::RedQueueDisc::MeanPktSize", UintegerValue(FULL_PACKET));
        Config::SetDefault("ns3::RedQueueDisc::LinkBandwidth", DataRateValue(DataRate("5Mbps")));
        if (queue == "red-ecn")
        {
            Config::SetDefault("ns3::RedQueueDisc::UseEcn", BooleanValue(true));
            Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue("On"));
        }
    }
    else
    {
        std::fprintf(stderr, "queue has to be drop-tail, codel, pie, fq-codel, red or red-ecn, not %s\n", queue.c_str());
        std::exit(2);
    }
}

// Whether this ns-3 was built with logging, which costs time even when it is silent: a constructor that
// says something when it is asked to.
bool
HasLogging()
{
    std::ostringstream said;
    auto usual = std::clog.rdbuf(said.rdbuf());
    LogComponentEnable("RandomVariableStream", LOG_LEVEL_ALL);
    CreateObject<UniformRandomVariable>();
    LogComponentDisable("RandomVariableStream", LOG_LEVEL_ALL);
    std::clog.rdbuf(usual);
    return !said.str().empty();
}

double
CpuSeconds()
{
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + t.tv_usec * 1e-6; };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

} // namespace

int
main(int argc, char** argv)
{
    uint32_t flows = 1;
    uint32_t seed = 1;
    double duration = 600;
    std::string queue = "codel";
    std::string limit = "417p";
    std::string growth = "Cubic";
    std::string minimum_timeout = "200ms";
    bool device_queue = false;
    bool measure = true;
    CommandLine arguments(__FILE__);
    arguments.AddValue("flows", "uploads", flows);
    arguments.AddValue("seed", "of the times of start and of PIE", seed);
    arguments.AddValue("duration", "simulated seconds", duration);
    arguments.AddValue("warmup", "seconds that do not count", g_warm_up);
    arguments.AddValue("queue", "drop-tail, codel, pie, fq-codel, red or red-ecn", queue);
    arguments.AddValue("limit", "of the queue disc", limit);
    arguments.AddValue("growth", "of the window: Cubic, CubicInReals or LinuxReno", growth);
    arguments.AddValue("rto", "least retransmission timeout", minimum_timeout);
    arguments.AddValue("device-queue", "one packet waits in the device, too", device_queue);
    arguments.AddValue("measure", "false: nothing but throughput", measure);
    arguments.Parse(argc, argv);

    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(seed);
    ConfigureTcp(growth, Time(minimum_timeout));

    NodeContainer nodes;
    nodes.Create(3);
    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    access.SetChannelAttribute("Delay", StringValue("0ms"));
    access.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
    auto access_devices = access.Install(nodes.Get(0), nodes.Get(1));
    auto line = DynamicCast<PointToPointNetDevice>(access_devices.Get(0));
    line->SetDataRate(DataRate("5Mbps"));
    PointToPointHelper backbone;
    backbone.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    backbone.SetChannelAttribute("Delay", StringValue("10ms"));
    backbone.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("10000p"));
    auto backbone_devices = backbone.Install(nodes.Get(1), nodes.Get(2));

    InternetStackHelper().Install(nodes);
    TrafficControlHelper upstream;
    SetQueueDisc(queue, limit, upstream);
    auto disc = upstream.Install(access_devices.Get(0)).Get(0);
    if (auto fair = DynamicCast<FqCoDelQueueDisc>(disc))
    {
        // One full packet, as in Sojourn's scenario; the MTU would leave 2 B for a second one.
        fair->SetQuantum(FULL_PACKET - LINK_HEADER);
    }
    TrafficControlHelper downstream;
    SetQueueDisc("drop-tail", "1000p", downstream);
    downstream.Install(access_devices.Get(1));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    addresses.Assign(access_devices);
    addresses.NewNetwork();
    auto server = addresses.Assign(backbone_devices).GetAddress(1);
    TrafficControlHelper().Uninstall(backbone_devices);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    auto jitter = CreateObject<UniformRandomVariable>();
    auto end = Seconds(duration);
    for (uint32_t flow = 0; flow < flows; ++flow)
    {
        InetSocketAddress sink(server, 5000 + flow);
        PacketSinkHelper receiver("ns3::TcpSocketFactory", sink);
        receiver.Install(nodes.Get(2)).Start(Seconds(0));
        BulkSendHelper sender("ns3::TcpSocketFactory", sink);
        sender.SetAttribute("SendSize", UintegerValue(SEGMENT));
        sender.Install(nodes.Get(0)).Start(Seconds(jitter->GetValue(0, 1)));
    }
    InetSocketAddress call(server, 4000);
    PacketSinkHelper("ns3::UdpSocketFactory", call).Install(nodes.Get(2)).Start(Seconds(0));
    UdpClientHelper stream(call);
    stream.SetAttribute("PacketSize", UintegerValue(STREAM_PACKET - LINK_HEADER - IP_AND_UDP));
    stream.SetAttribute("Interval", TimeValue(MilliSeconds(20)));
    stream.SetAttribute("MaxPackets", UintegerValue(UINT32_MAX));
    stream.Install(nodes.Get(0)).Start(Seconds(jitter->GetValue(0, 0.02)));

    line->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&OnTransmit));
    if (measure)
    {
        disc->TraceConnectWithoutContext("Enqueue", MakeCallback(&OnEnqueue));
        disc->TraceConnectWithoutContext("Dequeue", MakeCallback(&OnDequeue));
        disc->TraceConnectWithoutContext("Drop", MakeCallback(&OnDrop));
    }
    Simulator::Stop(end);
    // The interface between disc and device exists once the nodes are initialised.
    Simulator::ScheduleNow([&] {
        if (!device_queue)
        {
            line->GetQueue()->SetMaxSize(QueueSize("2p"));
            auto interface = line->GetObject<NetDeviceQueueInterface>();
            g_device_queue = interface->GetTxQueue(0);
            line->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&StopDevice));
            line->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&WakeDevice));
        }
    });
    double before = CpuSeconds();
    Simulator::Run();
    double cpu = CpuSeconds() - before;

    std::sort(g_waits_ms.begin(), g_waits_ms.end());
    double sum = 0;
    for (double wait : g_waits_ms)
    {
        sum += wait;
    }
    double packets = std::max<double>(1, static_cast<double>(g_waits_ms.size()));
    std::printf("{\"throughput_mbps\": %.6f, \"delay_mean_ms\": %.6f, \"delay_p50_ms\": %.6f, "
                "\"delay_p95_ms\": %.6f, \"managed_mean_ms\": %.6f, \"losses\": %lu, "
                "\"stream_losses\": %lu, \"stream_packets\": %zu, \"run_cpu_s\": %.6f, "
                "\"events\": %lu, \"logging\": %s}\n",
                g_forwarded_bytes * 8e-6 / (duration - g_warm_up),
                sum / packets,
                Quantile(g_waits_ms, 0.5),
                Quantile(g_waits_ms, 0.95),
                g_managed_ms / packets,
                static_cast<unsigned long>(g_dropped),
                static_cast<unsigned long>(g_stream_dropped),
                g_waits_ms.size(),
                cpu,
                static_cast<unsigned long>(Simulator::GetEventCount()),
                HasLogging() ? "true" : "false");
    Simulator::Destroy();
    return 0;
}
