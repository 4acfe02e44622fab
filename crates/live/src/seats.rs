//! Seats for clients that have said hello, and a waiting room for connections that have not.
//!
//! A connection without a hello waits in a room of its own, for a short time. When the room is full, the one that has waited longest makes
//! place for the next. Clients with a token or a pass have seats of their own. So idle connections, however many, keep out no client with a
//! token.

use super::memory::lock;
use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex};

/// All seats of a server.
pub(super) struct Seats {
    /// How many clients with a token or pass, and how many without.
    clients: usize,
    /// How many connections may wait.
    waiting: usize,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    next: u64,
    /// Connections that wait, by number; the one that came first is first.
    waiting: VecDeque<(u64, TcpStream)>,
    known: usize,
    others: usize,
}

/// Where a connection is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SeatKind {
    Waiting(u64),
    Known,
    Other,
}

/// The seat of one connection; given back when it is dropped.
pub(super) struct Seat {
    seats: Arc<Seats>,
    place: SeatKind,
}

impl Seats {
    /// Seats for so many clients of each kind, and a waiting room for so many connections.
    pub fn new(clients: usize, waiting: usize) -> Arc<Seats> {
        Arc::new(Seats { clients, waiting: waiting.max(1), taken: Mutex::default() })
    }

    /// A place to wait; the connection that has waited longest ends where there is none.
    ///
    /// # Errors
    /// When the system has no handles left.
    pub fn wait(self: &Arc<Self>, tcp: &TcpStream) -> io::Result<Seat> {
        let tcp = tcp.try_clone()?;
        let mut taken = lock(&self.taken);
        while taken.waiting.len() >= self.waiting
            && let Some((_, longest)) = taken.waiting.pop_front()
        {
            let _ = longest.shutdown(Shutdown::Both);
        }
        let number = taken.next;
        taken.next += 1;
        taken.waiting.push_back((number, tcp));
        Ok(Seat { seats: Arc::clone(self), place: SeatKind::Waiting(number) })
    }
}

impl Seat {
    /// Takes the seat of a client that has said hello. `false` if there is none, or another has taken its place meanwhile.
    pub fn take(&mut self, is_known: bool) -> bool {
        let SeatKind::Waiting(number) = self.place else { return true };
        let mut taken = lock(&self.seats.taken);
        let Some(at) = taken.waiting.iter().position(|(other, _)| *other == number) else { return false };
        let (count, place) =
            if is_known { (&mut taken.known, SeatKind::Known) } else { (&mut taken.others, SeatKind::Other) };
        if *count >= self.seats.clients {
            return false;
        }
        *count += 1;
        taken.waiting.remove(at);
        self.place = place;
        true
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = lock(&self.seats.taken);
        match self.place {
            SeatKind::Waiting(number) => taken.waiting.retain(|(other, _)| *other != number),
            SeatKind::Known => taken.known -= 1,
            SeatKind::Other => taken.others -= 1,
        }
    }
}
