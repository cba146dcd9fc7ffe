import ArgumentParser
import Glibc
import Service
import Tactus
import Wire

/// The command `tactus call`.
struct CallCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    let call = "\(DaemonProgram.current.name) call"
    let examples = DaemonProgram.current.kinds.flatMap(\.callExamples).map { "  \(call) \($0)" }.joined(separator: "\n")
    return CommandConfiguration(
      commandName: "call",
      abstract: "Has a running daemon carry out a command, or tell a state; alone, lists its commands.",
      usage: DaemonOptions.usage("call [<words> ...] [--method <method>] [--json] [<options>]"),
      discussion: """
        Examples:
          \(call)
        \(examples)
          \(call) --host NAME.local status
          \(call) e-stop
        The words are a path below /api of the daemon's HTTP service. With values, or where there is nothing to look at, \
        it is a command (POST), otherwise a look (GET). NAME=VALUE is typed as the daemon describes it, NAME:=JSON is JSON, \
        :=JSON is the whole body, which only the daemon checks. Names stand for numbers: zone/Roses, zone=Roses. The answer goes to standard \
        output, at a terminal in words, otherwise and with --json as JSON; an error goes to standard error.
        An emergency stop is sent at once, without asking the daemon first what it can do, in any spelling (estop, E-STOP, e_stop); one of \
        a system that there is not stops everything, and one with words behind it (e-stop now). Values with it (reason=x) are not used, and it is \
        not refused for them. It is done when every output has confirmed that it is off. A reset that is refused is asked for again for 5 s: until then sticks come to rest, and outputs confirm that they are off.
        \(DaemonOptions.tokens)
        Exit status: 0 done; 64 the words are none that the daemon's description allows (names, types, ranges, what is required), and \
        nothing was sent; 1 refused by the daemon, or not reached.
        """)
  }

  @Option(
    help:
      "The daemon's name, address or URL: NAME.local, 192.168.1.7:8000, https://NAME.local:8000. Unless given: this machine's daemon."
  )
  var host: String?

  @OptionGroup var daemon: DaemonOptions

  @Option(help: "get, post, put or delete, where it is not clear.")
  var method: Method?

  @Flag(help: "The answer as JSON in one line, at a terminal, too.")
  var json = false

  @Argument(
    help: ArgumentHelp("The command, then NAME=VALUE or NAME:=JSON.", valueName: "words"),
    completion: CallCompletion.words)
  var words: [String] = []

  enum Method: String, ExpressibleByArgument, CaseIterable {
    case get, post, put, delete
  }

  func validate() throws {
    try daemon.address(of: host)
    if words.isEmpty, json || method != nil { throw ValidationError("Expected a command with --json and --method.") }
  }

  func run() throws {
    let words: CallWords
    do throws(CallError) { words = try CallWords(self.words) } catch { throw refused(error) }
    let (client, token) = try self.daemon.client(of: host)
    defer { client.stop() }
    if words.isEmergencyStop, method == nil || method == .post {
      return try stop(words, client, hasToken: token != nil)
    }
    let daemon = try description(client, hasToken: token != nil)
    if words.segments.isEmpty { return print(CallListing.text(daemon)) }
    let request: CallRequest
    do {
      let names = CallNames(daemon: daemon) { path in try told(at: path, client, hasToken: token != nil) }
      let method = method?.rawValue.uppercased()
      request = try CallRequest(names.resolved(words, method: method), method: method, of: daemon)
    } catch let error as CallError {
      throw refused(error)
    }
    let group = daemon.operations(at: words.segments).first?.group
    try finish(ask(request, words, client), request, words, client, hasToken: token != nil, group: group)
    // Who types a bare stop may mean everything.
    if words.segments == ["api", "stop"], !json, isatty(1) == 1, let group {
      print("(\(group) alone; \(DaemonProgram.current.name) call e-stop stops everything)")
    }
  }

  /// The options that the command has, with those of every command: whoever asks for help stops nothing.
  private static let options: Set = [
    "--host", "--port", "--token-file", "--fingerprint", "--cert", "--key", "--method", "--json", "--help", "-h",
    "-help", "--help-hidden", "--version", "--generate-completion-script", "--experimental-dump-help",
  ]

  /// Returns a command line without the options that `call` does not have if it is an emergency stop then, which is not refused for them, and says
  /// so. Any other command line is returned as it is.
  ///
  /// - Parameter line: the command line without the program's name.
  static func stopWithoutUnknownOptions(_ line: [String]) -> [String] {
    guard line.first == "call", (try? TactusCommand.parseAsRoot(line)) == nil else { return line }
    let unused = line.filter { $0.hasPrefix("-") && !options.contains(String($0.prefix { $0 != "=" })) }
    let rest = line.filter { !unused.contains($0) }
    guard !unused.isEmpty, let call = try? TactusCommand.parseAsRoot(rest) as? CallCommand,
      let words = try? CallWords(call.words), words.isEmergencyStop, call.method == nil || call.method == .post
    else { return line }
    complain("\(words.command): expected no other options, got \(unused.joined(separator: " ")): it is sent without")
    return rest
  }

  /// The time limit of a request, longer than any command takes to be acknowledged.
  private static let limit = Duration.seconds(20)

  /// The time for which a refused reset is requested again, and the time between two requests. A stick that was held
  /// still counts as held for more than a second.
  private static let (resetPatience, resetPeriod) = (Nanoseconds.seconds(5), Nanoseconds.milliseconds(500))

  /// The time after which an emergency stop without an answer is said to be unconfirmed, and is sent again.
  private static let stopLimit = Duration.seconds(3)

  /// The time that outputs have to confirm that they are off after an emergency stop, and the time before each look, longer than a beat of the daemon.
  private static let (stopPatience, stopPeriod) = (Nanoseconds.seconds(5), Nanoseconds.milliseconds(200))

  private func ask(
    _ request: CallRequest, _ words: CallWords, _ client: ServiceClient, limit: Duration = CallCommand.limit
  ) throws -> Result<ServiceClient.Answer, ServiceClient.Failure> {
    let body = request.body.map { Array($0.compact.utf8) }
    func ask() -> Result<ServiceClient.Answer, ServiceClient.Failure> {
      client.ask(request.method, request.target, body: body, limit: limit)
    }
    var result = ask()
    guard words.isReset, request.method == "POST" else { return result }
    let bell = try Doorbell()
    let end = MonotonicClock.now + Self.resetPatience
    while case .success(let answer) = result, answer.status == 409, MonotonicClock.now < end {
      // The bell is never rung; its timeout is the pause.
      bell.wait(limit: Self.resetPeriod)
      result = ask()
    }
    return result
  }

  /// Sends an emergency stop, once more if there is no answer. If the daemon has no such system, everything is stopped.
  private func stop(_ words: CallWords, _ client: ServiceClient, hasToken: Bool) throws {
    let request = CallRequest(emergencyStop: words)
    var result = try ask(request, words, client, limit: Self.stopLimit)
    if case .failure(.timedOut) = result {
      complain(CallAnswer.unconfirmedStop("\(client.address) does not answer, and it is sent again"))
      result = try ask(request, words, client)
    }
    if !words.unused.isEmpty {
      let unused = words.unused.joined(separator: " ")
      complain("\(words.command): expected no words or values with it, got \(unused): it was sent without")
    }
    guard case .success(let answer) = result, answer.status == 404, words.segments.count > 2 else {
      try finish(result, request, words, client, hasToken: hasToken)
      return try confirm(words, client, hasToken: hasToken)
    }
    complain("\(words.command): \(client.address) has no such e-stop: everything is stopped instead")
    let all = try CallWords(["e-stop"])
    let whole = CallRequest(emergencyStop: all)
    try finish(ask(whole, all, client), whole, all, client, hasToken: hasToken)
    try confirm(all, client, hasToken: hasToken)
  }

  /// Waits until all outputs of what was stopped have confirmed that they are off. Complains and throws the exit status of a failure if some have not
  /// in time, or if the daemon does not tell whether they have.
  private func confirm(_ words: CallWords, _ client: ServiceClient, hasToken: Bool) throws {
    let bell = try Doorbell()
    let end = MonotonicClock.now + Self.stopPatience
    while true {
      // The bell is never rung; its timeout is the pause.
      bell.wait(limit: Self.stopPeriod)
      guard let reason = doubt(words, client, hasToken: hasToken) else { return }
      guard MonotonicClock.now < end else {
        complain(CallAnswer.unconfirmedStop(reason))
        throw ExitCode.failure
      }
    }
  }

  /// Returns the reason why outputs of what was stopped may not be off, or `nil` if all have confirmed that they are.
  private func doubt(_ words: CallWords, _ client: ServiceClient, hasToken: Bool) -> String? {
    let told: CallAnswer
    switch client.ask("GET", "/api/status", limit: Self.stopLimit) {
    case .success(let answer):
      let status = answer.status == 200 ? JSONValue(json: answer.body) : nil
      if let status, let names = UnconfirmedOutputs.systems(in: status, of: words.segments) {
        guard let first = names.first else { return nil }
        let (all, call) = (names.joined(separator: ", "), "\(DaemonProgram.current.name) call \(first)")
        return "\(all) took it, but not every output has confirmed that it is off; \(call) says why"
      }
      told = CallAnswer(
        status: answer.status, body: answer.body, to: "status", of: client.address, hasToken: hasToken, isCompact: true)
    case .failure(let failure): told = CallAnswer(failure, of: client.address, isCommand: false)
    }
    let why = told.complaint ?? "\(client.address) does not tell the state of what was stopped"
    return "it was taken, but whether every output is off is not known: \(why)"
  }

  /// Prints the answer: at a terminal in words, otherwise as JSON. Throws the exit status of a failure if the command was not done.
  ///
  /// - Parameter group: the system of the command, or `nil` if it is not known.
  private func finish(
    _ result: Result<ServiceClient.Answer, ServiceClient.Failure>, _ request: CallRequest, _ words: CallWords,
    _ client: ServiceClient, hasToken: Bool, group: String? = nil
  ) throws {
    var told: CallAnswer
    switch result {
    case .success(let answer):
      told = CallAnswer(
        status: answer.status, body: answer.body, to: words.command, of: client.address, hasToken: hasToken,
        isCompact: json)
      // Another program's server answers anything with 200.
      if words.isEmergencyStop, told.complaint == nil, JSONValue(json: answer.body)?["ok"] != JSONValue.boolean(true) {
        told.output = nil
        told.complaint = "\(client.address) answers, but not as \(DaemonProgram.current.name) does"
      }
      if told.complaint == nil, !json, isatty(1) == 1, let document = JSONValue(json: answer.body) {
        told.output = AnswerInWords.text(document, to: words.command, of: group, isLook: request.method == "GET")
      }
    case .failure(let failure): told = CallAnswer(failure, of: client.address, isCommand: request.method != "GET")
    }
    if let output = told.output { print(output) }
    if let complaint = told.complaint {
      let isStop = words.isEmergencyStop && request.method == "POST"
      complain(isStop ? CallAnswer.unconfirmedStop(complaint) : complaint)
      throw ExitCode.failure
    }
  }

  /// Returns the daemon's document at a path; if there is none, prints the reason and throws the exit status of a
  /// failure.
  private func told(at path: [String], _ client: ServiceClient, hasToken: Bool) throws -> JSONValue {
    let request = CallRequest(lookAt: path)
    switch client.ask("GET", request.target, limit: Self.limit) {
    case .success(let answer):
      if answer.status == 200, let document = JSONValue(json: answer.body) { return document }
      let refusal = CallAnswer(
        status: answer.status, body: answer.body, to: CallWords.command(path), of: client.address, hasToken: hasToken,
        isCompact: false)
      complain(refusal.complaint ?? "\(client.address) answers, but not as \(DaemonProgram.current.name) does")
    case .failure(let failure):
      if let complaint = CallAnswer(failure, of: client.address, isCommand: false).complaint { complain(complaint) }
    }
    throw ExitCode.failure
  }

  /// Returns the daemon's description of its API, which needs no token; a wrong token is refused at this request already.
  private func description(_ client: ServiceClient, hasToken: Bool) throws -> CallDescription {
    let document = try told(at: CallDescription.path, client, hasToken: hasToken)
    if let daemon = CallDescription(document) { return daemon }
    complain("\(client.address) answers, but not as \(DaemonProgram.current.name) does")
    throw ExitCode.failure
  }

  private func refused(_ error: CallError) -> ExitCode {
    complain("\(error)")
    return ExitCode(64)
  }
}
