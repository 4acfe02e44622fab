//! The inside of a chunk: a number of rows, then columns, each with a number, an encoding and a length. Readers find the columns they know
//! and skip others.

use crate::varint::{put, take, unzigzag, zigzag};

/// How the values of a column are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Encoding {
    /// Numbers.
    Plain = 0,
    /// Differences to the number before; the first to 0.
    Delta = 1,
    /// Texts: bytes of UTF-8, then those.
    Text = 2,
    /// For each row how many numbers, then those.
    List = 3,
    /// The same with differences; the first of each row to 0.
    DeltaList = 4,
    /// Bytes as they are.
    Raw = 5,
}

impl Encoding {
    fn from_byte(byte: u8) -> Option<Encoding> {
        use Encoding as E;
        [E::Plain, E::Delta, E::Text, E::List, E::DeltaList, E::Raw].into_iter().find(|e| *e as u8 == byte)
    }
}

/// The longest text: a longer one is cut, and ends with an ellipsis.
pub const LONGEST_TEXT: usize = 65_535;

/// Puts a payload together, in buffers that are kept from chunk to chunk.
#[derive(Default)]
pub struct PayloadWriter {
    out: Vec<u8>,
    column: Vec<u8>,
    empty: bool,
}

impl PayloadWriter {
    /// Begins a payload.
    pub(crate) fn begin(&mut self, rows: usize) {
        self.out.clear();
        self.empty = rows > 0;
        put(&mut self.out, rows as u64);
    }

    /// Adds a column. A column of zeros is left out, which means the same. Only the first is always written, since it shows the number of
    /// rows.
    pub(crate) fn column(&mut self, id: u8, encoding: Encoding, fill: impl FnOnce(&mut Vec<u8>)) {
        self.column.clear();
        fill(&mut self.column);
        if !self.empty && self.column.iter().all(|&b| b == 0) {
            return;
        }
        self.empty = false;
        self.out.extend_from_slice(&[id, encoding as u8]);
        put(&mut self.out, self.column.len() as u64);
        self.out.extend_from_slice(&self.column);
    }

    /// The payload.
    pub(crate) fn finish(&self) -> &[u8] {
        &self.out
    }

    /// Lets go of memory beyond this.
    pub(crate) fn shrink(&mut self, most: usize) {
        self.out.clear();
        self.column.clear();
        self.out.shrink_to(most);
        self.column.shrink_to(most);
    }
}

/// More columns than a chunk has.
const MOST_COLUMNS: usize = 64;

/// More rows than a chunk may have.
pub const MOST_ROWS: usize = 1 << 16;

/// A payload taken apart.
pub struct PayloadReader<'a> {
    pub(crate) rows: usize,
    columns: Vec<(u8, Encoding, &'a [u8])>,
    /// Columns whose encoding is not known: of a later version.
    strange: u32,
}

impl<'a> PayloadReader<'a> {
    /// Takes a payload apart.
    ///
    /// # Errors
    /// Parses a payload. The error is a text.
    pub(crate) fn new(payload: &'a [u8]) -> Result<Self, String> {
        let mut rest = payload;
        let cut = || "a payload that ends within a column".to_owned();
        let rows = take(&mut rest).ok_or_else(cut)?;
        if rows > MOST_ROWS as u64 {
            return Err(format!("{rows} rows, more than {MOST_ROWS}"));
        }
        let mut columns = Vec::new();
        let mut strange = 0;
        while let Some((&id, after)) = rest.split_first() {
            let (&encoding, after) = after.split_first().ok_or_else(cut)?;
            rest = after;
            let length = take(&mut rest).ok_or_else(cut)?;
            let length = usize::try_from(length).map_err(|_| cut())?;
            let (bytes, after) = rest.split_at_checked(length).ok_or_else(cut)?;
            rest = after;
            match Encoding::from_byte(encoding) {
                Some(encoding) => columns.push((id, encoding, bytes)),
                None => strange += 1,
            }
            if columns.len() > MOST_COLUMNS {
                return Err(format!("more than {MOST_COLUMNS} columns"));
            }
        }
        // Each row takes a byte or more in each column: without one the number of rows would be anybody's word.
        if columns.iter().all(|(_, _, bytes)| bytes.len() < rows as usize) && rows > 0 {
            return Err(format!("{rows} rows, but no column that long"));
        }
        Ok(PayloadReader { rows: rows as usize, columns, strange })
    }

    /// A column, empty where it was left out.
    pub(crate) fn column(&self, id: u8) -> ColumnReader<'a> {
        match self.columns.iter().find(|c| c.0 == id) {
            Some(&(_, encoding, bytes)) => ColumnReader { id, encoding, rest: bytes, previous: 0, absent: false },
            None => ColumnReader { id, encoding: Encoding::Plain, rest: &[], previous: 0, absent: true },
        }
    }

    /// Columns that are none of these: of a later version.
    pub(crate) fn unknown(&self, known: &[u8]) -> u32 {
        self.strange + self.columns.iter().filter(|c| !known.contains(&c.0)).count() as u32
    }
}

/// The values of a column, one after the other. Of one that was left out, all are zero, or empty.
pub(crate) struct ColumnReader<'a> {
    id: u8,
    encoding: Encoding,
    rest: &'a [u8],
    previous: u64,
    absent: bool,
}

impl<'a> ColumnReader<'a> {
    fn wrong(&self, what: &str) -> String {
        format!("in column {}, {what}", self.id)
    }

    /// Bytes that are left: at least as many as values.
    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    /// True at the end of the column, also if it is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next number.
    #[inline]
    pub(crate) fn number(&mut self) -> Result<u64, String> {
        if self.absent {
            return Ok(0);
        }
        let value = take(&mut self.rest).ok_or_else(|| self.wrong("no number where one should be"))?;
        match self.encoding {
            Encoding::Plain => Ok(value),
            Encoding::Delta => {
                self.previous = self.previous.wrapping_add(unzigzag(value));
                Ok(self.previous)
            }
            other => Err(self.wrong(&format!("the encoding {other:?} where numbers should be"))),
        }
    }

    /// The next number, where it may have at most 32 bits.
    #[inline]
    pub(crate) fn small(&mut self) -> Result<u32, String> {
        let value = self.number()?;
        u32::try_from(value).map_err(|_| self.wrong(&format!("the number {value} where at most 32 bits should be")))
    }

    /// The next text.
    pub(crate) fn text(&mut self) -> Result<&'a str, String> {
        if self.absent {
            return Ok("");
        }
        if self.encoding != Encoding::Text {
            return Err(self.wrong(&format!("the encoding {:?} where texts should be", self.encoding)));
        }
        let length = take(&mut self.rest).ok_or_else(|| self.wrong("no text where one should be"))?;
        let length = usize::try_from(length).ok().filter(|&l| l <= LONGEST_TEXT);
        let length = length.ok_or_else(|| self.wrong("a text that is too long"))?;
        let (bytes, rest) =
            self.rest.split_at_checked(length).ok_or_else(|| self.wrong("a text that ends too early"))?;
        self.rest = rest;
        std::str::from_utf8(bytes).map_err(|_| self.wrong("a text that is no UTF-8"))
    }

    /// The next list.
    pub(crate) fn list(&mut self) -> Result<Vec<u64>, String> {
        if self.absent {
            return Ok(Vec::new());
        }
        let delta = match self.encoding {
            Encoding::List => false,
            Encoding::DeltaList => true,
            other => return Err(self.wrong(&format!("the encoding {other:?} where lists should be"))),
        };
        let count = take(&mut self.rest).ok_or_else(|| self.wrong("no list where one should be"))?;
        let count = usize::try_from(count).ok().filter(|&c| c <= self.rest.len());
        let count = count.ok_or_else(|| self.wrong("a list that is longer than the column"))?;
        let mut values = Vec::with_capacity(count);
        let mut previous = 0u64;
        for _ in 0..count {
            let value = take(&mut self.rest).ok_or_else(|| self.wrong("a list that ends too early"))?;
            previous = if delta { previous.wrapping_add(unzigzag(value)) } else { value };
            values.push(previous);
        }
        Ok(values)
    }

    /// Says that all values have been taken.
    ///
    /// # Errors
    /// When there are more.
    pub(crate) fn end(&self) -> Result<(), String> {
        match self.rest.len() {
            0 => Ok(()),
            more => Err(self.wrong(&format!("{more} bytes more than the rows"))),
        }
    }
}

/// Writes numbers into a column.
pub(crate) struct ColumnWriter<'a> {
    out: &'a mut Vec<u8>,
    delta: bool,
    previous: u64,
}

impl<'a> ColumnWriter<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>, encoding: Encoding) -> Self {
        let delta = matches!(encoding, Encoding::Delta | Encoding::DeltaList);
        ColumnWriter { out, delta, previous: 0 }
    }

    /// The next number.
    #[inline]
    pub(crate) fn number(&mut self, value: u64) {
        if self.delta {
            put(self.out, zigzag(value.wrapping_sub(self.previous)));
            self.previous = value;
        } else {
            put(self.out, value);
        }
    }

    /// The next text, cut where it is too long.
    pub(crate) fn text(&mut self, text: &str) {
        const MORE: &str = "…";
        if text.len() <= LONGEST_TEXT {
            put(self.out, text.len() as u64);
            self.out.extend_from_slice(text.as_bytes());
            return;
        }
        let start = text.get(..text.floor_char_boundary(LONGEST_TEXT - MORE.len())).unwrap_or("");
        put(self.out, (start.len() + MORE.len()) as u64);
        self.out.extend_from_slice(start.as_bytes());
        self.out.extend_from_slice(MORE.as_bytes());
    }

    /// The next list.
    pub(crate) fn list(&mut self, values: &[u64]) {
        put(self.out, values.len() as u64);
        self.previous = 0;
        values.iter().for_each(|&v| self.number(v));
    }
}
