//! The recorder in real JVMs. One program, so that it is linked once.
//!
//! Each test runs on every installed JDK from 17 on. `make test` takes another collector for each case, `make recorder-test` all
//! of them. The claims of docs/recorder.md, and their tests here, in `tests/suite` of the application (`app:`) and elsewhere:
//!
//! | claim | test |
//! |---|---|
//! | Walks of a program at rest agree with the VM's histograms, and with a dump by the JDK's own tool | `at_rest` |
//! | Every sample that a walk names is an object of its class and size, and no live one is missing | `at_rest` |
//! | Class histograms are those of the VM, come between walks and within the share; `off` means none | `histograms` |
//! | Histograms are whole wherever a file is cut or damaged | `recorded_counts` of memory-city-formats |
//! | 99 % of estimates are within three sigma, within one and a half times the budget; with `every-allocation` they are exact | `estimates` |
//! | Dropped samples are named and counted, and others stand for them | `estimates` |
//! | Stacks and thread names without room are counted | `refused` |
//! | Groups by samples tell how many objects they know, in every report and conversion | `samples` of memory-city-analysis, app: `command_line_convert` |
//! | Cause and kind of a collection are those that the VM logs, or unknown | `collectors` |
//! | `every-allocation` sees each way to make an object, in interpreter and compilers | `allocation_kinds` |
//! | Objects keep their numbers when collections move them; too many are reported | `identity`, app: `recorder::identity` |
//! | 64 MB and 24 bytes a sample are enough, with two hundred threads and walk after walk | `bounds` |
//! | A fault ends the recording in one line, and the program goes on; its end waits for less than ten seconds | `bounds` |
//! | Attached and left twenty times: no memory, reference, thread, mapping or open file of ours stays | `bounds` |
//! | Samples have the thread's name at the allocation; ever new names end in one that counts | `threads` |
//! | Classes of one name from two loaders are two; ever new loaders fill no table | app: `recorder::loaders` |
//! | Classes may be unloaded while they are sampled and walked | `unloading` |
//! | Loader, field, thread, method and line of a holder are the program's | app: `recorder::roots` |
//! | Lost samples are counted to the last one, after a kill too | `jvm`, app: `recorder::endings` |
//! | Every end of a program keeps its exit code and output, and the trace opens | app: `recorder::endings` |
//! | JVMs in containers are listed and watched; a folder that they see otherwise is refused | app: `recorder::containers` |
//! | A program is recorded after its launcher has ended | app: `recorder::launchers` |
//! | A terminal's Ctrl+C reaches the program once, Ctrl+\ prints threads | app: `recorder::terminal` |
//! | Walks by one process after the other are one recording | app: `recorder::joined` |
//! | Folders may have any name, in any locale | `places` |
//! | Recordings without walks have array lengths, and tell what died | app: `recorder::counts`, `counted` of memory-city-analysis |
//! | `keep` removes nothing that may still be written | `earlier` of the library |
//! | A full disk is the reason that is given | app: `recorder::disks` |
//! | musl is refused in the words of the page | `musl` |
//! | No value of the program is in any file | app: `recorder::secrets` |
//! | A pass is good for one connection, and a stranger in a city's place gets nothing | `passes` of memory-city-live |
//! | The trace is within `--max-size` every 2 ms; files are private at any moment | app: `recorder::limits` |
//! | A recording process or city that stands still delays nothing and takes no more memory | app: `recorder::progress` |
//! | The first walk waits for its share; no last walk begins that would take too long | app: `recorder::limits`, `recorder::endings` |
//! | The VM objects to no use of JNI (`-Xcheck:jni`) | app: `recorder::checked` |
//! | Three leaks are found, a healthy program has none | app: `recorder::leaks` |
//! | The window records, and shows a live city by thread and age | app: `window::recording` |
//! | A growing recording is followed, and only its new walks are read | `following` of memory-city-analysis, app: `live_view` |
//! | The five minutes of the README work word for word | `scripts/real/five_minutes.py` |

mod allocation_kinds;
mod at_rest;
mod bounds;
mod collectors;
mod common;
mod estimates;
mod header;
mod histograms;
mod identity;
mod jvm;
mod musl;
mod places;
mod refused;
mod threads;
mod unloading;
