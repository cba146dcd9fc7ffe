import Glibc

// plants-bench host PORT SPAM          a Plant-Tracker host on the broker at 127.0.0.1:PORT until its input ends; SPAM is the
//                                      limit of messages in 15 s, 0 none. Then the outcomes as one line of JSON.
// plants-bench parse FILE COUNT        parses the file's lines, COUNT messages in all; messages a second and errors as JSON.
//
// Part of the main package, not of Benchmarks: it needs the leaf over libmosquitto.

let words = CommandLine.arguments.dropFirst().map { $0 }
switch words.first {
case "host" where words.count == 3: try runHost(port: words[1], spamLimit: words[2])
case "parse" where words.count == 3: try measureParser(file: words[1], count: words[2])
default: fail("expected host PORT SPAM, or parse FILE COUNT")
}

func fail(_ reason: String) -> Never {
  let line = "plants-bench: \(reason)\n"
  write(2, line, line.utf8.count)
  exit(64)
}
