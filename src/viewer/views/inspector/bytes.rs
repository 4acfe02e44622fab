//! The content of arrays of primitive values: an element a row, or as bytes with their characters.

use crate::viewer::panels::long_list::{ListCell, ListColumn, ListState, LongList};
use crate::viewer::panels::theme;
use bevy_egui::egui;
use memory_city_analysis::analyses::count_text;
use memory_city_analysis::inspection::{BYTES_IN_A_ROW, hexadecimal};
use memory_city_formats::values::{FieldValue, ValueKind};

/// The elements of a primitive array, one a row or as bytes.
pub fn primitives(
    ui: &mut egui::Ui,
    state: &mut ListState,
    kind: ValueKind,
    bytes: &[u8],
    elements: bool,
    focused: bool,
) {
    let width = kind.width(8);
    if elements {
        let columns = [
            ListColumn::text("Index", 1.0, "The place in the array").points(90.0),
            ListColumn::text("Value", 1.0, "The number that is there"),
            ListColumn::text("Hex", 1.0, "Its bytes, the highest first"),
        ];
        let rows = (bytes.len() / width) as u64;
        LongList { name: "numbers", columns: &columns, rows, focused }.show(ui, state, |row, column| {
            let here = bytes.chunks_exact(width).nth(row as usize).unwrap_or_default();
            match column {
                0 => ListCell::quiet(format!("[{}]", count_text(row))),
                1 => {
                    let value = FieldValue::primitive(kind, here).map_or(String::new(), |value| value.to_string());
                    ListCell::new(value).coloured(theme::OUTGOING)
                }
                _ => ListCell::quiet(here.iter().map(|b| format!("{b:02x}")).collect::<String>()).monospace(),
            }
        });
        return;
    }
    let columns = [
        ListColumn::text("Index", 1.0, "The place of the first element of the row").points(80.0),
        ListColumn::text("Bytes", 1.0, "Two digits each, the highest first").points(352.0),
        ListColumn::text("Text", 1.0, "The same as characters, dots where there are none"),
    ];
    let rows = bytes.len().div_ceil(BYTES_IN_A_ROW) as u64;
    LongList { name: "bytes", columns: &columns, rows, focused }.show(ui, state, |row, column| {
        let here = bytes.chunks(BYTES_IN_A_ROW).nth(row as usize).unwrap_or_default();
        match column {
            0 => ListCell::quiet(count_text(row * (BYTES_IN_A_ROW / width) as u64)).monospace(),
            1 => ListCell::new(hexadecimal(here).0).monospace(),
            _ => ListCell::new(characters(kind, here)).coloured(theme::OUTGOING).monospace(),
        }
    });
}

/// Bytes as characters: of arrays of characters two bytes each.
fn characters(kind: ValueKind, bytes: &[u8]) -> String {
    if kind != ValueKind::Char {
        return hexadecimal(bytes).1;
    }
    let units = bytes.chunks_exact(2).map(|unit| u16::from_be_bytes([unit[0], unit[1]]));
    let shown = |c: char| if c.is_control() { '.' } else { c };
    char::decode_utf16(units).map(|c| c.map_or('.', shown)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_those_of_the_kind() {
        assert_eq!(characters(ValueKind::Byte, b"ab\n"), "ab.");
        assert_eq!(characters(ValueKind::Char, &[0, 0x41, 0x20, 0xac, 0, 0x0a]), "A\u{20ac}.");
        assert_eq!(characters(ValueKind::Char, &[0xd8, 0x00, 0]), ".", "half a character, and half a unit");
    }
}
