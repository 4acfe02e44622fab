//! Classifier by address.

use crate::group::classifier::Numbered;
use crate::group::registry::{OptionInfo, RegistryError};
use crate::group::{ByFunction, ClassifierMeta, Reads, Registry};
use crate::units;
use std::sync::Arc;

const OPTIONS: [OptionInfo; 1] = [OptionInfo {
    name: "block",
    description: "A group for each block of so many bytes of the address range",
    example: Some("1MiB"),
}];

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("address", "Address")
        .describe(
            "The address of the object; with blocks, the part of the address range it is in",
            "0x00000000e0012a40",
        )
        .reads(Reads::ID);
    registry.add_with_options(meta.clone(), &OPTIONS, move |request| {
        let block = match request.value("block").map(units::amount) {
            None => 1,
            Some(Some(bytes)) if (1.0..1e18).contains(&bytes) => bytes as u64,
            Some(_) => return Err("a block is a number of bytes, such as 4096 or 1MiB".to_owned()),
        };
        let address = ByFunction::new(meta.clone(), move |object, values| match object.address() {
            None => values.one("(no address)"),
            Some(address) if block == 1 => values.one(&format!("{address:#018x}")),
            Some(address) => {
                let start = address - address % block;
                values.one(&format!("{start:#018x} to {:#018x}", start.saturating_add(block - 1)));
            }
        });
        if block == 1 {
            return Ok(Arc::new(address));
        }
        Ok(Arc::new(Numbered::new(address, move |object| object.address().map(|address| address / block))))
    })
}
