//! Why an emulation does not begin, each as one sentence with what would be right.

use std::fmt;
use std::io;

/// A step that the system refused.
#[derive(Debug)]
pub struct Refused {
    /// The error, one sentence.
    pub message: String,
    /// The remedy.
    pub hint: String,
    /// True if the machine or its owner forbids the request, or it makes no sense: exit status 2.
    pub is_usage: bool,
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Refused {}

impl Refused {
    /// Returns an error for a request that is forbidden or makes no sense here.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), is_usage: true }
    }

    /// The machine failed.
    pub fn failure(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), is_usage: false }
    }

    /// A step of the way into the namespaces, by its name in the holder, with the system's answer.
    pub fn step(step: &str, number: i32) -> Self {
        let why = in_words(&io::Error::from_raw_os_error(number)).to_lowercase();
        match (step, number) {
            ("tun", libc::ENOENT | libc::ENODEV | libc::ENXIO) => Self::usage(
                "the emulation needs /dev/net/tun, which is not there",
                "modprobe tun; in a container: start it with --device /dev/net/tun",
            ),
            ("tun", libc::EACCES | libc::EPERM) => Self::usage(
                format!("the emulation may not open /dev/net/tun: {why}"),
                "chmod 0666 /dev/net/tun, as distributions have it; in a container: start it with --device /dev/net/tun",
            ),
            ("namespaces", libc::ENOSPC) => Self::usage(
                "user namespaces are switched off on this machine: user.max_user_namespaces is 0, or as many are in use",
                "sysctl -w user.max_user_namespaces=15000, or run sojourn with sudo",
            ),
            ("namespaces" | "map", libc::EPERM | libc::EACCES | libc::EINVAL) => {
                Self::usage(format!("this system forbids user namespaces: {why}"), forbidden_by())
            }
            ("inside", libc::EPERM | libc::EACCES | libc::ENOSPC) => Self::usage(
                format!("this system forbids the user namespace in which the command runs: {why}"),
                forbidden_by(),
            ),
            ("command", libc::ENOENT) => {
                Self::usage("there is no such command", "the words after -- are the command that runs inside")
            }
            ("command", _) => Self::usage(
                format!("the command cannot be run: {why}"),
                "the words after -- are the command that runs inside",
            ),
            ("congestion control", libc::EINVAL | libc::ENOENT) => Self::usage(
                "this kernel has no such congestion controller",
                "those that it has: cat /proc/sys/net/ipv4/tcp_available_congestion_control; others: modprobe tcp_NAME",
            ),
            _ => Self::failure(format!("the emulation cannot set up its {step}: {why}"), ""),
        }
    }
}

/// Returns the system's message without its number.
pub(super) fn in_words(error: &io::Error) -> String {
    let text = error.to_string();
    let words = text.split(" (os error").next();
    words.unwrap_or(&text).to_owned()
}

/// Which of the known locks is on this machine.
fn forbidden_by() -> &'static str {
    let reads = |path: &str, value: &str| std::fs::read_to_string(path).is_ok_and(|text| text.trim() == value);
    if reads("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") {
        "AppArmor keeps programs from it (kernel.apparmor_restrict_unprivileged_userns=1): run sojourn with sudo, or give \
         it the profile of docs/guides/emulate.md"
    } else if reads("/proc/sys/kernel/unprivileged_userns_clone", "0") {
        "sysctl -w kernel.unprivileged_userns_clone=1, or run sojourn with sudo"
    } else {
        "run sojourn with sudo; in a container: start it with --security-opt seccomp=unconfined --device /dev/net/tun"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_container_forbids_is_said_in_one_sentence_and_is_wrong_usage() {
        for (step, number) in
            [("tun", libc::ENOENT), ("tun", libc::EACCES), ("namespaces", libc::ENOSPC), ("namespaces", libc::EPERM)]
        {
            let refused = Refused::step(step, number);
            assert!(refused.is_usage && !refused.hint.is_empty(), "{refused:?}");
            assert!(!refused.message.contains('\n') && !refused.message.ends_with('.'));
        }
    }
}
