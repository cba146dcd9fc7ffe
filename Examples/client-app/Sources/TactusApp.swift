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

  func connect(_ address: String, token: String) {
    do {
      let endpoint = try Endpoint(address)
      if !token.isEmpty { try tokens.keep(token, for: endpoint) }
      connect(endpoint)
    } catch {
      failure = error.localizedDescription
    }
  }

  func connect(_ endpoint: Endpoint) {
    let daemon = DaemonModel(
      endpoint, token: try? tokens.token(for: endpoint), cache: FileStateCache(folder: .cachesDirectory))
    daemon.start()
    self.daemon = daemon
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
  @State private var token = ""

  var body: some View {
    Form {
      Section("On this network") {
        ForEach(browser.found) { found in
          Button(found.name) {
            Task { if let endpoint = try? await browser.endpoint(of: found) { store.connect(endpoint) } }
          }
        }
        if let failure = browser.failure { Text(failure) }
      }
      Section("By address") {
        TextField("pi.local:8000", text: $address)
        SecureField("Token", text: $token)
        Button("Connect") { store.connect(address, token: token) }
        if let failure = store.failure { Text(failure).foregroundStyle(.red) }
      }
    }
    .onAppear { browser.start() }
    .onDisappear { browser.stop() }
  }
}
