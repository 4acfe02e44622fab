#!/usr/bin/env bash
# Renders the pictures of README.md that come from data of the sources, into docs/: `make pictures`. The others (trends, graph, page)
# are of dumps or browsers that are not here.
set -euo pipefail

cd "$(dirname "$0")/.."
city=${MEMORY_CITY:-target/release/memory-city}
sample=sample-data/person-leak

"$city" render "$sample" -o docs/city.png --panels --select Person --size 1440x900
"$city" render "$sample" -o docs/leak.png --panels --size 1440x900
"$city" render "$sample" -o docs/paths.png --panels --select Person --paths --size 1280x720
"$city" render "$sample" -o docs/cut.png --panels --select Person --cut register.store.PersonRegistry.PERSONS --size 1280x720
"$city" render "$sample" -o docs/person.png --select 'LinkedList$Node' --references straight --size 1280x720
"$city" render tests/data/anttracks/person-leak-parallel -o docs/trace.png --panels --select 'PersonLeak8$Person' --size 1280x720
