//! An assistant that talks to the program: by hand, by a player that follows only what answers say comes next, and by a client library.

use memory_city_testing::{python, root};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A conversation.
struct Assistant {
    program: Child,
    say: Option<ChildStdin>,
    hear: Lines<BufReader<ChildStdout>>,
    asked: u64,
}

impl Assistant {
    fn start(arguments: &[&str]) -> Assistant {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memory-city"));
        command.arg("mcp").args(arguments).current_dir(root()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut program = command.spawn().expect("the program");
        let hear = BufReader::new(program.stdout.take().expect("its output")).lines();
        Assistant { say: program.stdin.take(), program, hear, asked: 0 }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.say.as_mut().expect("its input"), "{message}").expect("sent");
    }

    fn heard(&mut self) -> Value {
        let line = self.hear.next().expect("a reply").expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params }));
        let reply = self.heard();
        assert_eq!(reply["id"], self.asked);
        reply
    }

    /// The text of an answer, or of an error.
    fn call(&mut self, tool: &str, arguments: Value) -> Result<String, String> {
        let reply = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        let result = &reply["result"];
        let text = result["content"][0]["text"].as_str().expect("a text").to_owned();
        if result["isError"] == true { Err(text) } else { Ok(text) }
    }

    /// The program ends when there is no one left to answer.
    fn end(mut self) {
        drop(self.say.take());
        assert!(self.program.wait().expect("a status").success());
    }
}

/// The first call that an answer names: the tool, and those of its arguments that are given as `name=value`.
fn next_of(answer: &str) -> (String, Value) {
    let line = answer.lines().find_map(|line| line.strip_prefix("next: ")).expect("a next call");
    let mut words = line.split(' ');
    let tool = words.next().expect("a tool").to_owned();
    let arguments = words.map_while(|word| word.split_once('='));
    (tool, arguments.map(|(name, value)| (name.to_owned(), Value::from(value))).collect())
}

/// Opens an input and does what answers say: three calls, each of at most 4 kB, lead to the name of what leaks.
#[test]
fn three_calls_lead_to_what_leaks() {
    let inputs = [
        ("sample-data/person-leak", "PersonRegistry.PERSONS"),
        ("sample-data/http-pool/city.json.zst", "MultiThreadedHttpConnectionManager"),
        ("tests/data/anttracks/person-leak-parallel", "Person"),
    ];
    for (input, culprit) in inputs {
        let mut assistant = Assistant::start(&[input]);
        let opened = assistant.call("open", json!({ "paths": [input] })).expect("it opens");
        let (tool, arguments) = next_of(&opened);
        let verdict = assistant.call(&tool, arguments).expect("a verdict");
        let (tool, arguments) = next_of(&verdict);
        let more = assistant.call(&tool, arguments).expect("more of it");
        for answer in [&opened, &verdict, &more] {
            assert!(answer.len() <= 4000, "{answer}");
        }
        assert!(verdict.contains(culprit), "{input}: {verdict}");
        assert!(verdict.contains("\nexact: "), "{verdict}");
        assistant.end();
    }
}

#[test]
fn an_assistant_gets_what_it_may_have_and_remedies_otherwise() {
    let mut assistant = Assistant::start(&["sample-data/person-leak"]);
    let greeting = assistant.ask("initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": {} }));
    assert_eq!(greeting["result"]["protocolVersion"], "2025-06-18");
    assistant.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let tools = assistant.ask("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().expect("tools").clone();
    assert!(tools.len() <= 12 && tools.iter().all(|tool| tool["inputSchema"]["additionalProperties"] == false));
    assert_eq!(assistant.ask("resources/list", json!({}))["error"]["code"], -32601);

    assert!(
        assistant.call("report", json!({ "input": "d1" })).expect_err("nothing is open").contains("Call open first")
    );
    let outside = ["/etc/passwd", "../http-pool/city.json.zst", "/nowhere"];
    for path in outside {
        let refused = assistant.call("open", json!({ "paths": [path] })).expect_err("it may not");
        assert!(refused.contains("not among the files that may be opened"), "{refused}");
    }
    let listed = assistant.call("inputs", json!({})).expect("a list");
    assert!(listed.contains("person-leak-16.hprof.gz"), "{listed}");
    let two = json!({ "paths": ["person-leak-01.hprof.gz", "person-leak-16.hprof.gz"], "grouping": "type" });
    let opened = assistant.call("open", two).expect("it opens");
    assert!(opened.starts_with("d1 is ") && opened.contains("grouped by type"), "{opened}");
    // A group by its path, as reports print it.
    let paths =
        json!({ "input": "d1", "id": "paths", "parameters": { "group": "Heap › Type: register.model.Person" } });
    for (tool, arguments, expected) in [
        ("groups", json!({ "input": "d1", "rows": 2, "sort": "objects" }), "and "),
        ("groups", json!({ "input": "d1", "where": "name = \"register.model.Person\"" }), "     1  register"),
        ("analyses", json!({ "input": "d1" }), "(sites: "),
        ("analyses", json!({ "input": "d1", "id": "paths" }), "group: "),
        ("analyse", json!({ "input": "d1", "id": "biggest", "parameters": { "top": 2 } }), "LinkedList"),
        ("analyse", paths, "PERSONS"),
        ("check", json!({ "input": "d1", "max_growth": "5%" }), ": FAILED"),
        ("compare", json!({ "before": "d1", "after": "d1" }), "before"),
    ] {
        let answer = assistant.call(tool, arguments.clone()).expect("an answer");
        assert!(answer.contains(expected) && answer.len() <= 4000, "{tool} {arguments}: {answer}");
    }
    for (tool, arguments, expected) in [
        ("delete", json!({}), "There is no tool delete"),
        ("report", json!({ "input": "d1", "top": 3 }), "unknown field `top`"),
        ("report", json!({ "input": "d7" }), "Open: d1"),
        ("report", json!({ "input": "d1", "from": 9 }), "9"),
        ("groups", json!({ "input": "d1", "where": "bytes >" }), "filter"),
        ("open", json!({ "paths": ["."], "grouping": "tpye" }), "grouping"),
        ("analyse", json!({ "input": "d1", "id": "sites" }), "cannot be made of this input"),
        ("check", json!({ "input": "d1", "max_growth": "much" }), "max_growth"),
    ] {
        let error = assistant.call(tool, arguments.clone()).expect_err("wrong");
        assert!(error.contains(expected), "{tool} {arguments}: {error}");
    }
    assistant.end();
}

/// Values of the program are shown only where a person has allowed it.
#[test]
fn texts_of_the_program_are_hidden_unless_asked_for() {
    for (arguments, shown) in
        [(&["sample-data/person-leak"][..], false), (&["sample-data/person-leak", "--texts"], true)]
    {
        let mut assistant = Assistant::start(arguments);
        assistant.call("open", json!({ "paths": ["person-leak-16.hprof.gz"] })).expect("it opens");
        for id in ["inspect", "duplicate-strings"] {
            let answer = assistant.call("analyse", json!({ "input": "d1", "id": id, "limit": 100_000 })).expect("rows");
            assert_eq!(answer.contains('"'), shown, "{answer}");
            assert_eq!(answer.contains("Texts of the program are hidden"), !shown, "{answer}");
        }
        assistant.end();
    }
}

/// A client that others wrote.
#[test]
fn a_client_library_asks_and_understands() {
    let Some(python) = python::with_package("mcp") else { return };
    let script = root().join("tests/python/assistant.py");
    let program = env!("CARGO_BIN_EXE_memory-city");
    let output = Command::new(python).arg(script).args([program, "sample-data"]).current_dir(root()).output();
    let output = output.expect("Python");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("PersonRegistry.PERSONS"), "{said}");
}
