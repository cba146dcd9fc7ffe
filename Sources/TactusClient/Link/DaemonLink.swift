import Foundation

/// How an app is connected with its daemon.
public enum LinkState: Equatable, Sendable {
  /// How news come.
  public enum Way: Equatable, Sendable {
    /// By WebSocket, at once.
    case socket
    /// By asking every 3 s, since the WebSocket cannot be had.
    case polling
  }

  /// Nothing is tried: before `start`, after `stop`, and in the background.
  case idle
  /// The first connection is being made.
  case connecting
  /// News come in.
  case live(Way)
  /// The daemon is not reached, and is tried again. What is shown is old: see `DaemonModel.age`.
  case lost(ClientError)
  /// The daemon does not take the token. It is not tried again before `DaemonModel.use(token:)` or `start`.
  case refused(Refusal)

  /// Whether news come in.
  public var isLive: Bool { if case .live = self { true } else { false } }
}

/// The connection with one daemon: WebSocket first, polling behind it. It tells what comes in and knows no model.
@MainActor
final class DaemonLink {
  /// What comes in.
  enum News {
    case state(LinkState)
    /// A text message of the WebSocket.
    case event(Data)
    /// A binary message of the WebSocket.
    case frame(Data)
    /// An answer of `GET /api/status`.
    case status(Data)
  }

  /// Between two polls, and after a failure before the next attempt.
  static let pollPeriod: Duration = .seconds(3)
  /// So many polls before the WebSocket is tried again.
  static let pollsPerAttempt = 5
  /// A WebSocket that is not open by then is given up.
  static let openLimit: Duration = .seconds(5)
  /// A WebSocket that says nothing for so long is given up: the daemon says each system's state once a second.
  static let silenceLimit: Duration = .seconds(5)

  private(set) var caller: Caller
  private(set) var state = LinkState.idle
  var tell: @MainActor (News) -> Void = { _ in }
  var clock: any ClientClock { caller.clock }

  private var socket: (any EventSocket)?
  private var work: Task<Void, Never>?
  private var lastHeard: Duration = .zero

  init(_ caller: Caller) { self.caller = caller }

  /// Connects, unless it is connected or tries to.
  func start() {
    guard work == nil else { return }
    become(.connecting)
    work = Task { await run() }
  }

  /// Disconnects. Nothing is told any more.
  func stop() {
    work?.cancel()
    work = nil
    socket?.close()
    socket = nil
    become(.idle)
  }

  /// Connects anew with another token.
  func use(token: String?) {
    let wasOn = state != .idle
    stop()
    caller = Caller(transport: caller.transport, token: token, clock: caller.clock, random: caller.random)
    if wasOn { start() }
  }

  /// Sends a binary frame over the WebSocket. Returns whether there was one that took it.
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
      await listen()
      guard await poll() else { break }
    }
    // Refused: the next `start` begins anew.
    if !Task.isCancelled { work = nil }
  }

  /// Opens the WebSocket and listens until it ends.
  private func listen() async {
    guard let opened = await open() else { return }
    guard !Task.isCancelled else { return opened.close() }
    socket = opened
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
        switch message {
        case .text(let data): tell(.event(data))
        case .binary(let data): tell(.frame(data))
        }
      }
    } catch {}
    watch.cancel()
    opened.close()
    guard !Task.isCancelled else { return }
    socket = nil
  }

  /// An open WebSocket, or `nil` if there is none within the limit.
  private func open() async -> (any EventSocket)? {
    let (caller, limit) = (caller, Self.openLimit)
    return await withTaskGroup(of: (any EventSocket)?.self) { group in
      group.addTask {
        guard let socket = try? await caller.transport.openSocket(token: caller.token) else { return nil }
        // Too late: nobody waits for it any more.
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

  /// Asks every 3 s until the WebSocket is to be tried again. Returns `false` if the daemon has refused.
  private func poll() async -> Bool {
    for _ in 0..<Self.pollsPerAttempt {
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
