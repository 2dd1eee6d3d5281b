//! Messages between the program, the holder and the first process inside: a line of text, and descriptors with it.

use super::system;
use nix::cmsg_space;
use nix::sys::socket::{
    AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, recvmsg, sendmsg, socketpair,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// Longest message. chosen: a word, numbers and a path.
const LONGEST: usize = 4096;

/// Most descriptors of one message.
const MOST_DESCRIPTORS: usize = 16;

/// One end of a pair.
#[derive(Debug)]
pub struct Mail {
    socket: OwnedFd,
}

/// A received message.
#[derive(Debug)]
pub struct Letter {
    /// The words.
    pub text: String,
    /// Descriptors that were sent with the bytes.
    pub descriptors: Vec<OwnedFd>,
}

impl Mail {
    /// Both ends; each message arrives whole.
    ///
    /// # Errors Those of the system, here and below.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (here, there) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
        Ok((Self { socket: here }, Self { socket: there }))
    }

    /// One end of a connection that already is.
    pub fn over(socket: OwnedFd) -> Self {
        Self { socket }
    }

    /// Sends words and descriptors.
    pub fn send(&self, text: &str, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let raw: Vec<RawFd> = descriptors.iter().map(AsRawFd::as_raw_fd).collect();
        let rights = [ControlMessage::ScmRights(&raw)];
        let control = if raw.is_empty() { &[] } else { &rights[..] };
        let parts = [IoSlice::new(text.as_bytes())];
        let flags = MsgFlags::MSG_NOSIGNAL;
        sendmsg::<()>(self.socket.as_raw_fd(), &parts, control, flags, None)?;
        Ok(())
    }

    /// Waits for a message; nothing if the other end is gone.
    pub fn receive(&self) -> io::Result<Option<Letter>> {
        let mut bytes = [0_u8; LONGEST];
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let mut space = cmsg_space!([RawFd; MOST_DESCRIPTORS]);
        let (length, descriptors) = loop {
            let flags = MsgFlags::MSG_CMSG_CLOEXEC;
            match recvmsg::<()>(self.socket.as_raw_fd(), &mut parts, Some(&mut space), flags) {
                Err(nix::Error::EINTR) => {}
                Err(nix::Error::ECONNRESET) => return Ok(None),
                Err(error) => return Err(error.into()),
                Ok(message) => {
                    let mut descriptors = Vec::new();
                    for control in message.cmsgs()? {
                        if let ControlMessageOwned::ScmRights(raw) = control {
                            descriptors.extend(system::adopt(&raw));
                        }
                    }
                    break (message.bytes, descriptors);
                }
            }
        };
        if length == 0 {
            return Ok(None);
        }
        Ok(Some(Letter { text: String::from_utf8_lossy(&bytes[..length]).into_owned(), descriptors }))
    }
}

impl AsFd for Mail {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Read, Write};

    #[test]
    fn a_descriptor_arrives_with_its_words() {
        let (here, there) = Mail::pair().unwrap();
        let (read, write) = nix::unistd::pipe().unwrap();
        here.send("a pipe", &[write.as_fd()]).unwrap();
        let mut letter = there.receive().unwrap().unwrap();
        assert_eq!(letter.text, "a pipe");
        drop(write);
        let mut arrived = File::from(letter.descriptors.remove(0));
        arrived.write_all(b"through").unwrap();
        drop(arrived);
        let mut text = String::new();
        File::from(read).read_to_string(&mut text).unwrap();
        assert_eq!(text, "through");
    }

    #[test]
    fn an_end_that_is_gone_is_no_message() {
        let (here, there) = Mail::pair().unwrap();
        drop(here);
        assert!(there.receive().unwrap().is_none());
    }
}
