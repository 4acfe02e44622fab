#!/usr/bin/env bash
# Renders the pictures of README.md and the book, into docs/: `make pictures`. Two others need dumps or a browser that are not here:
# graph.png is of Spark's driver (`make real`), page.png of the page of the sample.
set -euo pipefail

cd "$(dirname "$0")/.."
city=${MEMORY_CITY:-target/release/memory-city}
sample=sample-data/person-leak

# The film of README.md: 2 MB at most, since every reader of the page loads it.
"$city" render "$sample" -o docs/city-grows.png --film --between 2 --names 12 --size 760x532
"$city" render "$sample" -o docs/city.png --panels --select Person --size 1440x900
"$city" render "$sample" -o docs/leak.png --panels --size 1440x900
"$city" render "$sample" -o docs/paths.png --panels --select Person --paths --size 1280x720
"$city" render "$sample" -o docs/cut.png --panels --select Person --cut register.store.PersonRegistry.PERSONS --size 1280x720
"$city" render "$sample" -o docs/person.png --select 'LinkedList$Node' --references straight --size 1280x720
"$city" render tests/data/anttracks/person-leak-parallel -o docs/trace.png --panels --select 'PersonLeak8$Person' --size 1280x720
"$city" render "$sample" -o docs/trends.png --view trends --select Person --size 1280x720
