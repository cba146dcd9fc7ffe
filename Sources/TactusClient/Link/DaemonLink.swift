import Foundation

/// The state of an app's connection to its daemon.
public enum LinkState: Equatable, Sendable {
  /// The way in which the app receives news.
  public enum Way: Equatable, Sendable {
    /// The WebSocket delivers news at once.
    case socket
    /// The app polls every 3 s, since no WebSocket is available.
    case polling
  }

  /// No connection is attempted: before `start`, after `stop`, and in the background.
  case idle
  /// The first connection is being made.
  case connecting
  /// The connection is up, and news arrive.
  case live(Way)
  /// The daemon cannot be reached, and attempts continue. The values shown are old; see `DaemonModel.age`.
  case lost(ClientError)
  /// The daemon refuses the token. The next attempt follows `DaemonModel.use(token:)` or `start`.
  case refused(Refusal)

  /// Whether the connection is up.
  public var isLive: Bool { if case .live = self { true } else { false } }
}

/// The connection to one daemon, by WebSocket or else by polling. It reports the messages that it receives, and is
/// independent of the models.
@MainActor
final class DaemonLink {
  /// A message or a change of the connection's state.
  enum News {
    case state(LinkState)
    /// A text message of the WebSocket.
    case event(Data)
    /// A binary message of the WebSocket.
    case frame(Data)
    /// An answer of `GET /api/status`.
    case status(Data)
  }

  /// The time between two polls, and between a failure and the next attempt.
  static let pollPeriod: Duration = .seconds(3)
  /// The number of polls after which the WebSocket is tried again where it has not opened. One that has worked is tried again after one poll.
  static let pollsPerAttempt = 5
  /// The message that asks the daemon for what changes in the states, instead of complete states every second.
  static let changesRequest = Data(#"{"type":"changes"}"#.utf8)
  /// The time after which a WebSocket that has not opened is given up.
  static let openLimit: Duration = .seconds(5)
  /// The silence after which a WebSocket is given up. The daemon sends each system's state once a second.
  static let silenceLimit: Duration = .seconds(5)

  private(set) var caller: Caller
  private(set) var state = LinkState.idle
  var tell: @MainActor (News) -> Void = { _ in }
  var clock: any ClientClock { caller.clock }

  private var socket: (any EventSocket)?
  private var work: Task<Void, Never>?
  private var lastHeard: Duration = .zero

  init(_ caller: Caller) { self.caller = caller }

  /// Connects, unless a connection exists or is being made.
  func start() {
    guard work == nil else { return }
    become(.connecting)
    work = Task { await run() }
  }

  /// Disconnects. Nothing is reported any more.
  func stop() {
    work?.cancel()
    work = nil
    socket?.close()
    socket = nil
    become(.idle)
  }

  /// Connects again, with another token.
  func use(token: String?) {
    let wasOn = state != .idle
    stop()
    caller = Caller(transport: caller.transport, token: token, clock: caller.clock, random: caller.random)
    if wasOn { start() }
  }

  /// Sends a binary frame over the WebSocket. Returns whether a WebSocket was open and accepted the frame.
  func send(frame: Data) async -> Bool { await send(.binary(frame)) }

  private func send(_ message: SocketMessage) async -> Bool {
    guard let socket, state == .live(.socket) else { return false }
    do {
      try await socket.send(message)
      return true
    } catch {
      return false
    }
  }

  private func become(_ next: LinkState) {
    guard next != state else { return }
    state = next
    tell(.state(next))
  }

  private func run() async {
    while !Task.isCancelled {
      let hasWorked = await listen()
      guard await poll(atMost: hasWorked ? 1 : Self.pollsPerAttempt) else { break }
    }
    // The daemon has refused the token: the next `start` connects again.
    if !Task.isCancelled { work = nil }
  }

  /// Opens the WebSocket and reads from it until it ends. Returns whether anything was heard.
  private func listen() async -> Bool {
    guard let opened = await open() else { return false }
    guard !Task.isCancelled else {
      opened.close()
      return false
    }
    socket = opened
    var hasWorked = false
    lastHeard = clock.now
    let watch = Task { [weak self, clock] in
      while !Task.isCancelled, let self {
        guard clock.now - self.lastHeard < Self.silenceLimit else { return opened.close() }
        do { try await clock.wait(for: .seconds(1)) } catch { return }
      }
    }
    do {
      for try await message in opened.messages {
        guard !Task.isCancelled else { break }
        lastHeard = clock.now
        become(.live(.socket))
        if !hasWorked {
          hasWorked = true
          Task { try? await opened.send(.text(Self.changesRequest)) }
        }
        switch message {
        case .text(let data): tell(.event(data))
        case .binary(let data): tell(.frame(data))
        }
      }
    } catch {}
    watch.cancel()
    opened.close()
    if !Task.isCancelled { socket = nil }
    return hasWorked
  }

  /// Opens a WebSocket. Returns `nil` if it does not open within the limit.
  private func open() async -> (any EventSocket)? {
    let (caller, limit) = (caller, Self.openLimit)
    return await withTaskGroup(of: (any EventSocket)?.self) { group in
      group.addTask {
        guard let socket = try? await caller.transport.openSocket(token: caller.token) else { return nil }
        // The socket has opened too late, so it is closed.
        guard !Task.isCancelled else {
          socket.close()
          return nil
        }
        return socket
      }
      group.addTask {
        try? await caller.clock.wait(for: limit)
        return nil
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first
    }
  }

  /// Polls every 3 s until the WebSocket is to be tried again. Returns `false` if the daemon has refused the token.
  private func poll(atMost count: Int) async -> Bool {
    for _ in 0..<count {
      guard !Task.isCancelled else { return true }
      var isReached = false
      do throws(ClientError) {
        let status = try await caller.call(ClientRequest("GET", "/api/status", kind: .look))
        guard !Task.isCancelled else { return true }
        isReached = true
        become(.live(.polling))
        tell(.status(status))
      } catch {
        guard !Task.isCancelled else { return true }
        if case .refused(let refusal) = error, refusal.isAboutTheToken {
          become(.refused(refusal))
          return false
        }
        become(.lost(error))
      }
      do { try await clock.wait(for: Self.pollPeriod) } catch { return true }
      if !isReached { return true }
    }
    return true
  }
}
