//! Grants that no modem has asked for: guarantees, unsolicited grants, polls.

use super::*;

#[test]
fn a_basic_guarantee_is_granted_used_or_not() {
    // W19-22 and 4.9: 5.689 Mb/s are granted, a game of 30 packets a second uses 0.033 of them.
    let config = &UpstreamConfig::WHITE2019_PGS;
    let mut modem = modem(config);
    let mut context = Collector::default();
    let end = Instant::from_s(20);
    let arrivals = (0..600).map(|n| (Instant::from_ms(10 + 33 * n), low_latency(110)));
    drive_packets(&mut modem, arrivals, end, &mut context);
    modem.settle(end, &mut context);
    let counters = Link::counters(&modem).expect("a MAC counts");
    let mbps = |bytes: Bytes| bytes.0 as f64 * 8.0 / 20.0 / 1e6;
    // Every packet also asks for what the next grant does not hold; those grants are wasted, too.
    let granted = mbps(counters.granted);
    assert!((5.68..5.74).contains(&granted), "{granted}");
    let sent = granted - mbps(counters.unused_grant);
    assert!((sent - 0.0335).abs() < 0.0005, "{sent}");
}

#[test]
fn an_adaptive_guarantee_wastes_less_than_half_and_is_hardly_slower() {
    // W19-39.
    let adaptive = UpstreamConfig {
        proactive: ProactiveConfig::Adaptive {
            guarantee: Guarantee { rate: BitRate::from_mbps(5), interval: Some(Span::from_us(135)) },
            quiet: 0.8,
            idle_after: None,
            request_interval: Span::from_ms(1),
        },
        ..UpstreamConfig::WHITE2019_LLD
    };
    let found = [UpstreamConfig::WHITE2019_PGS, adaptive].map(|config| {
        let mut modem = modem(&config);
        let mut context = Collector::default();
        let mut random = Seed(3).stream("game");
        let mut at = Instant::from_ms(10);
        let arrivals = (0..4_000).map(|_| {
            let gap = 0.033 + 0.003 * normal(&mut random);
            at += Span::from_secs_f64(gap);
            (at, low_latency(whole(110.0 + 20.0 * normal(&mut random))))
        });
        let arrivals: Vec<_> = arrivals.collect();
        drive_packets(&mut modem, arrivals, Instant::NEVER, &mut context);
        let mut taken: Vec<f64> = context.delivered.iter().map(|(_, _, p)| p.delay.total().as_ms_f64()).collect();
        taken.sort_by(f64::total_cmp);
        let unused = Link::counters(&modem).expect("it counts").unused_grant;
        (quantile(&taken, 0.99), unused.0 as f64)
    });
    let [(basic, wasted), (adaptive, less)] = found;
    assert!(adaptive <= 1.2 * basic, "{adaptive} ms after {basic} ms");
    assert!(less < 0.5 * wasted, "{}", less / wasted);
}

/// Packets of 110 B each 33 ms, and their delays, with the counters of the modem.
fn game_with(proactive: ProactiveConfig) -> (Vec<Span>, LinkCounters) {
    let config = UpstreamConfig { proactive, ..UpstreamConfig::WHITE2019_LLD };
    let mut problems = Vec::new();
    config.problems(&mut problems);
    assert_eq!(problems, []);
    let arrivals = (0..200).map(|n| (Instant::from_us(33_017 * n + 50_000), low_latency(110)));
    let (mut modem, mut context) = (modem(&config), Collector::default());
    let end = Instant::from_ms(6_700);
    drive_packets(&mut modem, arrivals, end, &mut context);
    modem.settle(end, &mut context);
    assert_eq!(context.delivered.len(), 200, "{proactive:?}");
    let delays = context.delivered.iter().map(|(.., passage)| passage.arrives_at.saturating_since(passage.entered_at));
    (delays.collect(), modem.service_flow_counters().expect("two service flows")[LOW_LATENCY])
}

#[test]
fn older_schedulers_wait_for_a_grant_or_a_poll_and_waste_what_they_grant_for_nothing() {
    // A packet of 138 B with its headers, each 2 ms.
    let guarantee = Guarantee { rate: BitRate::from_kbps(520), interval: Some(Span::from_ms(2)) };
    let poll = Span::from_ms(2);
    let idle_after = Span::from_ms(10);
    let (none, _) = game_with(ProactiveConfig::None);
    let (ugs, of_ugs) = game_with(ProactiveConfig::Unsolicited(guarantee));
    let (kept, of_kept) =
        game_with(ProactiveConfig::Detected { guarantee, idle_after: Span::from_ms(100), request_interval: poll });
    let (lost, of_lost) = game_with(ProactiveConfig::Detected { guarantee, idle_after, request_interval: poll });
    let (polled, of_polled) = game_with(ProactiveConfig::Polled { request_interval: poll });
    let most = |delays: &[Span]| delays.iter().copied().max().expect("some");
    // The next grant is at most its interval away; nothing is ever requested.
    assert!(most(&ugs) <= Span::from_us(2_000 + 580), "{}", most(&ugs));
    assert_eq!(of_ugs.requested, Bytes::ZERO);
    // 144 B (three minislots) each 1.89 ms for 6.7 s.
    let granted = of_ugs.granted.0 as f64 / (6.7 / 0.00189 * 144.0);
    assert!((0.98..1.02).contains(&granted), "{granted}");
    assert!(of_ugs.unused_grant.0 as f64 > 0.9 * of_ugs.granted.0 as f64);
    // Activity detection changes nothing while the gap is shorter than its patience.
    assert_eq!(kept, ugs);
    assert_eq!(of_kept.unused_grant, of_ugs.unused_grant);
    // With less patience each packet waits for a poll, a request and its grant, and much less is granted for nothing.
    assert!(most(&lost) > most(&ugs) && of_lost.unused_grant.0 < of_ugs.unused_grant.0 / 2);
    // A polled flow wastes less than a minislot a packet, and waits for its poll on top of the loop of request and grant.
    assert!(of_polled.unused_grant.0 < 200 * 48, "{of_polled:?}");
    assert!(most(&polled) > most(&none) && most(&polled) <= most(&none) + poll, "{} {}", most(&polled), most(&none));
}

#[test]
fn an_unsolicited_grant_carries_one_packet() {
    // Two packets of 74 B would fit into a grant of 192 B.
    let guarantee = Guarantee { rate: BitRate::from_kbps(1_300), interval: Some(Span::from_ms(1)) };
    let at = Instant::from_ms(50);
    let arrivals = [(at, low_latency(40)), (at, low_latency(40))];
    let apart = |proactive| {
        let config = UpstreamConfig { proactive, ..UpstreamConfig::WHITE2019_LLD };
        let mut context = Collector::default();
        drive_packets(&mut modem(&config), arrivals, Instant::from_s(1), &mut context);
        context.delivered[1].2.arrives_at.saturating_since(context.delivered[0].2.arrives_at)
    };
    assert_eq!(apart(ProactiveConfig::Basic(guarantee)), Span::ZERO);
    assert_eq!(apart(ProactiveConfig::Unsolicited(guarantee)), Span::from_us(945));
}
