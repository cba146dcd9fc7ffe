import SwiftUI
import TactusClient

@main
struct TactusApp: App {
  @State private var store = DaemonStore()
  @Environment(\.scenePhase) private var phase

  var body: some Scene {
    WindowGroup {
      if let daemon = store.daemon {
        DaemonView(daemon: daemon) { store.leave() }
      } else {
        ConnectView(store: store)
      }
    }
    // In the background nothing is driven or fed.
    .onChange(of: phase) { store.daemon?.sceneBecame(active: phase == .active) }
  }
}

/// The daemon that the app shows, with its token in the keychain.
@MainActor
@Observable
final class DaemonStore {
  private(set) var daemon: DaemonModel?
  private(set) var failure: String?
  @ObservationIgnored private let tokens = KeychainTokens()

  /// Connects by an address, or by the link of a ticket alone, which has the address.
  func connect(_ address: String, secret: String) async {
    do throws(ClientError) {
      if address.isEmpty, let link = try? TicketLink(secret) {
        await connect(link.endpoint, secret: secret)
      } else {
        await connect(try Endpoint(address), secret: secret)
      }
    } catch {
      failure = error.localizedDescription
    }
  }

  /// Connects to a daemon with a token, with the link of a ticket that is exchanged for one, or, without either, with the token kept before.
  func connect(_ endpoint: Endpoint, secret: String) async {
    failure = nil
    do {
      if var link = try? TicketLink(secret) {
        link.endpoint = endpoint
        try tokens.keep(await link.exchange().token, for: endpoint)
      } else if !secret.isEmpty {
        try tokens.keep(secret, for: endpoint)
      }
      let daemon = DaemonModel(
        endpoint, token: try tokens.token(for: endpoint), cache: FileStateCache(folder: .cachesDirectory))
      daemon.start()
      self.daemon = daemon
    } catch {
      failure = error.localizedDescription
    }
  }

  /// Looks up the address of a daemon that was found, and connects.
  func connect(_ found: DaemonBrowser.Found, of browser: DaemonBrowser, secret: String) async {
    do throws(ClientError) {
      await connect(try await browser.endpoint(of: found), secret: secret)
    } catch {
      failure = error.localizedDescription
    }
  }

  func leave() {
    daemon?.stop()
    daemon = nil
  }
}

/// Daemons that announce themselves, and an address for the others.
struct ConnectView: View {
  let store: DaemonStore
  @State private var browser = DaemonBrowser()
  @State private var address = ""
  @State private var secret = ""

  var body: some View {
    Form {
      Section("For the first time") {
        SecureField("Token, or the link of a ticket", text: $secret)
        if let failure = store.failure { Text(failure).foregroundStyle(.red) }
      }
      Section("On this network") {
        ForEach(browser.found) { found in
          Button(found.name) { Task { await store.connect(found, of: browser, secret: secret) } }
        }
        if let failure = browser.failure { Text(failure) }
      }
      Section("By address") {
        TextField("pi.local:8000", text: $address)
        Button("Connect") { Task { await store.connect(address, secret: secret) } }
      }
    }
    .onAppear { browser.start() }
    .onDisappear { browser.stop() }
  }
}
