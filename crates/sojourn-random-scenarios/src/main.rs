//! `cargo run -p sojourn-random-scenarios -- COUNT [FIRST] [--wifi] [--jobs N] [--write FILE]`: runs random scenarios and
//! says what held, as a page in Markdown.

use sojourn_random_scenarios::{Examined, Generator, examine};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;
use std::{env, fs};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let Some(request) = Request::read(&arguments) else {
        eprintln!("usage: random-scenarios COUNT [FIRST] [--wifi] [--jobs N] [--write FILE]");
        return ExitCode::from(2);
    };
    // A panic is reported with its scenario.
    std::panic::set_hook(Box::new(|_| {}));
    let mut summary = Summary::default();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..request.jobs)
            .map(|worker| {
                let request = &request;
                scope.spawn(move || request.share(worker))
            })
            .collect();
        for worker in workers {
            summary.merge(worker.join().expect("panics are caught in each scenario"));
        }
    });
    let page = summary.page(&request);
    match &request.write {
        Some(path) => {
            if let Err(error) = fs::write(path, page) {
                eprintln!("error: {path}: {error}");
                return ExitCode::FAILURE;
            }
        }
        None => eprint!("{page}"),
    }
    if summary.failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Options of the command line.
struct Request {
    count: u64,
    first: u64,
    jobs: u64,
    /// Only scenarios with a Wi-Fi channel.
    wifi: bool,
    write: Option<String>,
}

impl Request {
    fn read(arguments: &[String]) -> Option<Self> {
        let mut request = Self { count: 0, first: 0, jobs: 1, wifi: false, write: None };
        let mut numbers = Vec::new();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            if argument == "--write" {
                request.write = Some(arguments.next()?.clone());
            } else if argument == "--wifi" {
                request.wifi = true;
            } else if argument == "--jobs" {
                request.jobs = arguments.next()?.parse().ok().filter(|jobs| *jobs > 0)?;
            } else {
                numbers.push(argument.parse::<u64>().ok()?);
            }
        }
        match numbers[..] {
            [count] => request.count = count,
            [count, first] => (request.count, request.first) = (count, first),
            _ => return None,
        }
        Some(request)
    }

    /// The interval of scenarios of one worker.
    fn share(&self, worker: u64) -> Summary {
        let generator = if self.wifi { Generator::wifi() } else { Generator::default() };
        let mut summary = Summary::default();
        let mut number = self.first + worker;
        while number < self.first + self.count {
            match examine(&generator, number) {
                Ok(examined) => summary.add(&examined),
                Err(failure) => {
                    summary.failures += 1;
                    eprintln!("scenario {number}: {}\n{}", failure.what, failure.text);
                }
            }
            if number.is_multiple_of(10_000) {
                eprintln!("scenario {number}");
            }
            number += self.jobs;
        }
        summary
    }
}

/// Sums over the scenarios that held.
#[derive(Default)]
struct Summary {
    runs: u64,
    failures: u64,
    events: u64,
    packet_hops: u64,
    packets: [u64; 3],
    in_flight: u64,
    simulated_s: f64,
    kinds: BTreeMap<String, BTreeMap<String, u64>>,
}

impl Summary {
    fn add(&mut self, examined: &Examined) {
        self.runs += 1;
        self.events += examined.statistics.events;
        self.packet_hops += examined.statistics.packet_hops;
        self.in_flight += examined.statistics.in_flight as u64;
        self.simulated_s += examined.duration.as_secs_f64();
        for (sum, packets) in self.packets.iter_mut().zip(examined.packets) {
            *sum += packets;
        }
        for kind in &examined.kinds {
            if let Some((place, kind)) = kind.split_once(" = ") {
                let place = self.kinds.entry(place.to_owned()).or_default();
                *place.entry(kind.to_owned()).or_default() += 1;
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.runs += other.runs;
        self.failures += other.failures;
        self.events += other.events;
        self.packet_hops += other.packet_hops;
        self.in_flight += other.in_flight;
        self.simulated_s += other.simulated_s;
        for (sum, packets) in self.packets.iter_mut().zip(other.packets) {
            *sum += packets;
        }
        for (place, kinds) in other.kinds {
            let sums = self.kinds.entry(place).or_default();
            for (kind, count) in kinds {
                *sums.entry(kind).or_default() += count;
            }
        }
    }

    fn page(&self, request: &Request) -> String {
        let (first, last) = (request.first, request.first + request.count.max(1) - 1);
        let built = if cfg!(debug_assertions) {
            "a debug build, with assertions and checked arithmetic"
        } else {
            "an optimised build"
        };
        let [of_wifi, with_channel, option, file] = if request.wifi {
            [" of Wi-Fi", ", each with a Wi-Fi channel", " --wifi", "random-scenarios-wifi"]
        } else {
            ["", "", "", "random-scenarios"]
        };
        let [sent, arrived, dropped] = self.packets;
        let mut page = format!(
            "# Random scenarios{of_wifi}\n\n\
             Of {} scenarios drawn at random {} held every law and {} failed.\n\n\
             Scenarios are drawn from the schema of scenario files: links, queue managers, stacks and applications of \
             every kind,\none subscriber or several homes over one link or several{with_channel}, with usual and odd parameters. Each is printed and read back, run until it has handled some \
             25,000 events or its time is\nover, and checked: nothing panics, every packet that was sent has arrived, \
             was dropped, or is in flight, no time runs\nbackwards, the parts of each delay sum to the whole, packets of one entry cross a Wi-Fi channel in the order in which they left the \
             queue, and no link without congestion lets more through in any time than its rate and burst allow. Every \
             sixteenth runs twice and must not differ.\n\n\
             ```console\n$ cargo run -p sojourn-random-scenarios -- {} {first}{option} --write docs/results/{file}.md\n```\n\n\
             Scenarios {first} to {last}, in {built}.\n\n\
             | what | sum |\n|---|--:|\n\
             | simulated time | {:.0} s |\n| events | {} |\n| packet-hops | {} |\n\
             | packets sent | {sent} |\n| arrived | {arrived} |\n| dropped | {dropped} |\n| in flight at the end | {} |\n\n\
             How often each kind occurs:\n\n| place | kinds |\n|---|---|\n",
            self.runs + self.failures,
            self.runs,
            self.failures,
            request.count,
            self.simulated_s,
            self.events,
            self.packet_hops,
            self.in_flight
        );
        for (place, kinds) in &self.kinds {
            let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("`{kind}` {count}")).collect();
            let _ = writeln!(page, "| `{place}` | {} |", kinds.join(", "));
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_worker_found_is_in_the_sum() {
        let mut sum = Summary::default();
        let worker = Summary { runs: 3, failures: 2, ..Summary::default() };
        sum.merge(worker);
        assert_eq!((sum.runs, sum.failures), (3, 2));
    }
}
