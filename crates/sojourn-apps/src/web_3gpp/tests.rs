use super::*;
use crate::desk::Desk;

/// Pages of a main object of 1000 B alone: a tail this steep stays at its scale.
const SMALL: Web3gppConfig = Web3gppConfig {
    main: Distribution::Constant(Bytes(1000)),
    count_shape: 100.0,
    parsing: Distribution::Constant(Span::from_ms(130)),
    reading: Distribution::Constant(Span::from_s(3)),
    ..Web3gppConfig::WHITE2019
};

/// The number of embedded objects at a uniform number.
fn count_at(config: &Web3gppConfig, unit: f64) -> u32 {
    config.count(&config.counts(), unit)
}

/// Mean of the number of embedded objects, and the shares of pages with 0, 1 and at least 10 of them.
fn counted(mode: CountMode) -> (f64, [f64; 3]) {
    const STEPS: u32 = 1_000_000;
    let config = Web3gppConfig { count_mode: mode, ..Web3gppConfig::WHITE2019 };
    let counts = config.counts();
    let (mut sum, mut shares) = (0.0, [0.0; 3]);
    for step in 0..STEPS {
        let unit = (f64::from(step) + 0.5) / f64::from(STEPS);
        let count = config.count(&counts, unit);
        sum += f64::from(count);
        for (share, holds) in shares.iter_mut().zip([count == 0, count == 1, count >= 10]) {
            *share += f64::from(u8::from(holds)) / f64::from(STEPS);
        }
    }
    (sum / f64::from(STEPS), shares)
}

#[test]
fn the_number_of_embedded_objects_has_the_mean_and_shares_of_ns_3() {
    let (mean, shares) = counted(CountMode::Ns3);
    assert!((mean - 3.918).abs() < 0.02, "{mean}");
    for (share, expected) in shares.iter().zip([0.369, 0.178, 0.116]) {
        assert!((share - expected).abs() < 1e-3, "{shares:?}");
    }
    let (mean, _) = counted(CountMode::Clamped);
    assert!((mean - 5.64).abs() < 0.03, "{mean}");
}

#[test]
fn no_page_reaches_the_bound_in_ns_3_and_some_do_where_it_clamps() {
    let ns3 = Web3gppConfig::WHITE2019;
    assert_eq!(count_at(&ns3, 0.0), 0);
    assert_eq!(count_at(&ns3, 1.0 - 1e-9), 52);
    let clamped = Web3gppConfig { count_mode: CountMode::Clamped, ..ns3 };
    assert_eq!(count_at(&clamped, 0.99), 53);
}

#[test]
fn pages_have_the_mean_size_of_the_variables_and_those_of_docsis_ns3() {
    // Main object plus 3.918 embedded ones of 8212 B: 134.6 kB and 42.9 kB.
    for (config, mean) in [(Web3gppConfig::WHITE2019, 134_600.0), (Web3gppConfig::NS3, 42_900.0)] {
        let config = Web3gppConfig {
            users: 50,
            parsing: Distribution::Constant(Span::ZERO),
            reading: Distribution::Constant(Span::from_ms(1)),
            ..config
        };
        let mut desk = Desk::new(1);
        desk.round_trips = vec![Span::from_us(10)];
        desk.run(&mut Web3gpp::new(&config), Instant::from_s(2));
        let pages: Vec<f64> = desk.pages.iter().map(|page| page.bytes as f64).collect();
        assert!(pages.len() > 45_000, "{}", pages.len());
        let found = pages.iter().sum::<f64>() / pages.len() as f64;
        // The standard error is some 0.6 kB: objects of 8 kB have a standard deviation of 60 kB.
        assert!((found - mean).abs() < 2_500.0, "{found}");
    }
}

#[test]
fn a_page_takes_a_round_trip_per_object_and_the_time_of_parsing() {
    let mut desk = Desk::new(1);
    // Connection at 1 s, established at 1.02 s; a main object alone.
    desk.run(&mut Web3gpp::new(&SMALL), Instant::from_ms(4_250));
    assert_eq!(desk.opened, [(Instant::from_s(1), 0)], "one connection for all pages");
    let times: Vec<(u64, Option<u64>, u32, u64)> = desk
        .pages
        .iter()
        .map(|page| {
            let ms = |at: Instant| at.as_ns() / 1_000_000;
            (ms(page.started_at), page.ended_at.map(ms), page.objects, page.bytes)
        })
        .collect();
    // 1020 + 20 + 130 = 1170; after 3 s of reading 4170, and its main object at 4190.
    assert_eq!(times, [(1020, Some(1170), 1, 1000), (4170, None, 1, 1000)]);
}

#[test]
fn embedded_objects_follow_one_after_the_other_over_the_same_connection() {
    let mut desk = Desk::new(1);
    desk.pieces = 3;
    let config = Web3gppConfig {
        reading: Distribution::Constant(Span::from_ms(10)),
        embedded_delay: Distribution::Constant(Span::from_ms(5)),
        ..Web3gppConfig::WHITE2019
    };
    desk.run(&mut Web3gpp::new(&config), Instant::from_s(60));
    assert_eq!(desk.opened.len(), 1);
    let finished: Vec<&Page> = desk.pages.iter().filter(|page| page.ended_at.is_some()).collect();
    assert!(finished.len() > 50);
    let mut several = 0;
    for page in finished {
        let objects: Vec<&Object> =
            desk.objects.iter().filter(|object| object.page == page.index && object.ended_at.is_some()).collect();
        assert_eq!(objects.len(), page.objects as usize);
        assert_eq!(objects.iter().map(|object| object.bytes).sum::<u64>(), page.bytes);
        assert_eq!(objects[0].started_at, page.started_at);
        for pair in objects[1..].windows(2) {
            assert_eq!(pair[1].started_at, pair[0].ended_at.unwrap());
            // A round trip of 20 ms and the server's 5 ms.
            let took = pair[1].ended_at.unwrap().saturating_since(pair[1].started_at);
            assert_eq!(took, Span::from_ms(25));
            several += 1;
        }
    }
    assert!(several > 100);
}

#[test]
fn what_a_user_loads_does_not_depend_on_the_others_and_their_speed() {
    let sizes = |round_trip: u64| {
        let mut desk = Desk::new(1);
        desk.round_trips = vec![Span::from_ms(round_trip)];
        desk.run(&mut Web3gpp::new(&Web3gppConfig { users: 5, ..Web3gppConfig::WHITE2019 }), Instant::from_s(100));
        (0..5)
            .map(|user| -> Vec<u64> {
                let pages = desk.pages.iter().filter(|page| page.user == user && page.ended_at.is_some());
                pages.map(|page| page.bytes).collect()
            })
            .collect::<Vec<_>>()
    };
    let (near, far) = (sizes(8), sizes(80));
    for (user, (near, far)) in near.iter().zip(&far).enumerate() {
        let count = near.len().min(far.len());
        assert!(count > 10, "user {user}: {count} pages");
        assert_eq!(near[..count], far[..count], "user {user}");
    }
    assert_ne!(near[0], near[1]);
}

#[test]
fn who_loses_a_connection_opens_another_and_begins_with_a_new_page() {
    let mut desk = Desk::new(1);
    desk.failures = 1;
    desk.resets = 1;
    desk.run(&mut Web3gpp::new(&Web3gppConfig::WHITE2019), Instant::from_s(100));
    // Fails after 75 s, tried again after a second; its first object is given up, and a second later comes a third one.
    let opened: Vec<u64> = desk.opened.iter().map(|(at, _)| at.as_ns() / 1_000_000).collect();
    assert_eq!(opened, [1_000, 77_000, 78_040]);
    assert_eq!(desk.pages[0].ended_at, None);
    assert!(desk.pages[1..].iter().any(|page| page.ended_at.is_some()));
}

/// Pages of a main object and `count` embedded ones, all of 1000 B.
fn page_of(count: u32, parallel: u32) -> Web3gppConfig {
    Web3gppConfig {
        embedded: Distribution::Constant(Bytes(1000)),
        // A tail so heavy that a draw is all but always beyond its bound, and becomes it.
        count_shape: 0.01,
        count_scale: 1,
        count_most: count + 1,
        count_mode: CountMode::Clamped,
        parallel,
        ..SMALL
    }
}

#[test]
fn four_connections_at_a_time_bring_one_object_each_in_two_round_trips() {
    let config = page_of(8, 4);
    let mut desk = Desk::new(1);
    desk.run(&mut Web3gpp::new(&config), Instant::from_ms(1_300));
    let page = desk.pages[0];
    assert_eq!(page.objects, 9, "another seed");
    // Main: 20 ms to connect and 20 ms to load, 130 ms of parsing; eight embedded ones, four at a time: twice 40 ms.
    let ms = |at: Instant| at.as_ns() / 1_000_000;
    assert_eq!(
        (ms(page.started_at), page.index_loaded_at.map(ms), page.ended_at.map(ms)),
        (1000, Some(1040), Some(1250))
    );
    let opened: Vec<u64> = desk.opened.iter().map(|(at, _)| ms(*at)).collect();
    assert_eq!(opened, [1000, 1170, 1170, 1170, 1170, 1210, 1210, 1210, 1210]);
    assert_eq!(desk.most_in_use[0], 4);
    for id in 0..9 {
        assert_eq!(desk.closed_ends(ConnectionId(id)), [true, true]);
    }
    let mut indices: Vec<u32> = desk.objects.iter().map(|object| object.index).collect();
    indices.sort_unstable();
    assert_eq!(indices, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn a_browser_has_the_same_objects_however_many_connections_bring_them() {
    let pages = |parallel: u32| {
        let mut desk = Desk::new(1);
        let config = Web3gppConfig {
            parallel,
            embedded_delay: Distribution::of(Law::Exponential { mean: Span::from_ms(20) }),
            ..Web3gppConfig::WHITE2019
        };
        desk.run(&mut Web3gpp::new(&config), Instant::from_s(200));
        let finished = desk.pages.iter().filter(|page| page.ended_at.is_some());
        let took = |page: &Page| page.ended_at.unwrap().saturating_since(page.started_at);
        finished.map(|page| (page.objects, page.bytes, took(page))).collect::<Vec<_>>()
    };
    let (one, four) = (pages(1), pages(4));
    let count = one.len().min(four.len());
    assert!(count > 30);
    let mut faster = 0;
    for (one, four) in one[..count].iter().zip(&four[..count]) {
        assert_eq!((one.0, one.1), (four.0, four.1));
        // A page of many objects is faster with four connections, one without any slower by a round trip.
        faster += u32::from(one.0 > 10 && four.2 < one.2);
        assert!(one.0 > 1 || four.2 == one.2 + Span::from_ms(20));
    }
    assert!(faster > 2);
}

#[test]
fn who_loses_one_of_several_connections_gives_up_the_page_and_all_of_them() {
    let mut desk = Desk::new(1);
    let mut browser = Web3gpp::new(&page_of(4, 4));
    browser.start(Instant::ZERO, &mut desk);
    browser.on_event(Instant::from_s(1), Event::Timer(0), &mut desk);
    let main = ConnectionId(0);
    browser.on_event(Instant::from_s(1), Event::Connected(main, End::Client), &mut desk);
    browser.on_event(Instant::from_s(1), Event::Delivered(main, End::Server, 328), &mut desk);
    browser.on_event(Instant::from_s(1), Event::Delivered(main, End::Client, 1000), &mut desk);
    let parsed = Instant::from_ms(1_130);
    desk.now = parsed;
    browser.on_event(parsed, Event::Timer(0), &mut desk);
    assert_eq!(desk.opened.len(), 5, "another seed");
    browser.on_event(parsed, Event::ConnectFailed(ConnectionId(2)), &mut desk);
    let abandoned: Vec<u32> = desk.abandoned.iter().map(|(_, id)| id.0).collect();
    assert_eq!(abandoned, [1, 3, 4]);
    assert_eq!(desk.pages.len(), 1);
    assert_eq!(desk.pages[0].ended_at, None);
    // Their later events are ignored; a second later it begins anew.
    browser.on_event(parsed, Event::Connected(ConnectionId(1), End::Client), &mut desk);
    browser.on_event(parsed + RETRY, Event::Timer(0), &mut desk);
    assert_eq!(desk.opened.len(), 6);
}
