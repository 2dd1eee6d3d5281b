//! Lost packets, a row for each: which packet of which flow.

use crate::{ConnectionOpened, LostPacket};

/// Rows of lost packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Losses {
    rows: Vec<(LostPacket, Option<u32>)>,
    /// By slot: how often it was used, and the number of the connection that has it.
    open: Vec<Option<(u8, u32)>>,
}

impl Losses {
    pub(crate) fn opened(&mut self, opened: &ConnectionOpened) {
        let (slot, generation) = opened.connection;
        let slot = slot as usize;
        if self.open.len() <= slot {
            self.open.resize(slot + 1, None);
        }
        self.open[slot] = Some((generation, opened.number));
    }

    pub(crate) fn add(&mut self, lost: &LostPacket) {
        let number = lost.connection.and_then(|(slot, generation)| {
            let (of, number) = (*self.open.get(slot as usize)?)?;
            (of == generation).then_some(number)
        });
        self.rows.push((*lost, number));
    }

    /// Each lost packet in order of time, and the number of its connection: none of datagrams, and of what a connection that is
    /// over had left behind.
    pub(crate) fn rows(&self) -> &[(LostPacket, Option<u32>)] {
        &self.rows
    }

    /// Bytes that they take.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.capacity() * size_of::<(LostPacket, Option<u32>)>()
            + self.open.capacity() * size_of::<Option<(u8, u32)>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LinkId, TrafficId};
    use sojourn_base::{Direction, Instant, Reason};

    #[test]
    fn a_loss_belongs_to_the_connection_that_had_its_slot() {
        let mut losses = Losses::default();
        let open = |losses: &mut Losses, generation, number| {
            losses.opened(&ConnectionOpened {
                now: Instant::ZERO,
                traffic: TrafficId(0),
                server: 0,
                connection: (3, generation),
                number,
                port: 0,
            });
        };
        let lose = |losses: &mut Losses, connection| {
            losses.add(&LostPacket {
                at: Instant::ZERO,
                link: LinkId(0),
                traffic: TrafficId(0),
                server: 0,
                direction: Direction::Upstream,
                connection,
                sequence: 7,
                data: 1448,
                reason: Reason::Overlimit,
            });
        };
        open(&mut losses, 0, 5);
        lose(&mut losses, Some((3, 0)));
        open(&mut losses, 1, 9);
        lose(&mut losses, Some((3, 1)));
        lose(&mut losses, Some((3, 0))); // which the first had left behind
        lose(&mut losses, Some((4, 0)));
        lose(&mut losses, None);
        let numbers: Vec<Option<u32>> = losses.rows().iter().map(|(_, number)| *number).collect();
        assert_eq!(numbers, [Some(5), Some(9), None, None, None]);
    }
}
