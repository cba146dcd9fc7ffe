import SwiftUI
import TactusClient

/// All systems of a daemon, and the emergency stop of everything.
struct DaemonView: View {
  let daemon: DaemonModel
  let leave: () -> Void
  @State private var failure: String?

  var body: some View {
    VStack {
      LinkLine(daemon: daemon)
      Form {
        if let robot = daemon.robot { RobotSection(robot: robot) }
        if let sprinkler = daemon.sprinkler { SprinklerSection(sprinkler: sprinkler, failure: $failure) }
        if let pump = daemon.pump { PumpSection(pump: pump, failure: $failure) }
        ForEach(daemon.plants?.state.plants ?? []) { plant in
          LabeledContent(plant.name, value: plant.moisturePercent.map { "\(Int($0)) %" } ?? "–")
        }
        ForEach(daemon.declared) { DeclaredSection(system: $0, failure: $failure) }
      }
      // What is shown is old, and nothing can be asked for.
      .disabled(!daemon.state.isLive)
      if let failure { Text(failure).foregroundStyle(.red) }
      Button("E-STOP", role: .destructive) {
        Task { failure = await said { () throws(ClientError) in try await daemon.emergencyStop() } }
      }
      .buttonStyle(.borderedProminent)
      Button("Leave", action: leave)
    }
  }
}

/// How the app is connected, and how old what it shows is.
struct LinkLine: View {
  let daemon: DaemonModel

  var body: some View {
    TimelineView(.periodic(from: .now, by: 1)) { _ in
      switch daemon.state {
      case .live: Text("Connected")
      case .refused(let refusal): Text(refusal.message).foregroundStyle(.red)
      case .idle, .connecting, .lost:
        Text("Not connected, as of \(daemon.age.map { "\($0.components.seconds) s ago" } ?? "unknown")")
          .foregroundStyle(.orange)
      }
    }
  }
}

struct RobotSection: View {
  let robot: RobotModel

  var body: some View {
    Section("Robot") {
      Text(robot.endOfHold ?? robot.state.reason)
      Circle().fill(robot.isDriving ? .green : .gray).frame(width: 200, height: 200)
        .gesture(
          DragGesture(minimumDistance: 0)
            .onChanged { robot.hold(x: ($0.location.x - 100) / 100, y: (100 - $0.location.y) / 100) }
            .onEnded { _ in robot.letGo() }
        )
        // A gesture that the system takes away has no end of its own.
        .onDisappear { robot.letGo() }
    }
  }
}

struct SprinklerSection: View {
  let sprinkler: SprinklerModel
  @Binding var failure: String?

  var body: some View {
    Section("Sprinkler") {
      ForEach(sprinkler.state.zones) { zone in
        Toggle(
          zone.remainingSec.map { "\(zone.name), \($0) s" } ?? zone.name,
          isOn: Binding(
            get: { sprinkler.isOn(zone.id) },
            set: { _ in Task { failure = await said { () throws(ClientError) in try await sprinkler.toggle(zone.id) } }
            }))
      }
      ForEach(sprinkler.schedules) { LabeledContent($0.name, value: $0.startTimes.joined(separator: ", ")) }
    }
  }
}

struct PumpSection: View {
  let pump: PumpModel
  @Binding var failure: String?

  var body: some View {
    Section("Pump") {
      Toggle(
        pump.state.reason,
        isOn: Binding(
          get: { pump.isOn },
          set: { isOn in
            Task {
              failure = await said { () throws(ClientError) in
                if isOn { try await pump.turnOn() } else { try await pump.turnOff() }
              }
            }
          }))
    }
  }
}

/// A system that the app has never heard of.
struct DeclaredSection: View {
  let system: DeclaredModel
  @Binding var failure: String?

  var body: some View {
    Section(system.description.title) {
      ForEach(system.description.fields) { field in
        LabeledContent(field.meaning, value: "\(system[field.name]?.text ?? "–") \(field.unit)")
      }
      // A command on an item of a list needs the item's index, and one with parameters their values.
      ForEach(system.description.commands.filter { $0.parameters.isEmpty && !$0.isOfItem }) { command in
        Button(command.meaning) {
          Task { failure = await said { () throws(ClientError) in try await system.call(command.word) } }
        }
      }
    }
  }
}

/// What the daemon, or the network, has against it; `nil` if it was done.
@MainActor
func said(_ body: () async throws(ClientError) -> Void) async -> String? {
  do throws(ClientError) {
    try await body()
    return nil
  } catch {
    return error.localizedDescription
  }
}

#Preview("Connected") { DaemonView(daemon: .preview()) {} }
#Preview("Trouble") {
  DaemonView(
    daemon: .preview(
      robot: SampleStates.robotEmergencyStopped, sprinkler: SampleStates.sprinklerEmergencyStopped,
      pump: SampleStates.pumpFault)
  ) {}
}
#Preview("Nothing to show") {
  DaemonView(
    daemon: .preview(sprinkler: SampleStates.sprinklerIdle, schedules: [], plants: SampleStates.plantsEmpty)
  ) {}
}
#Preview("Lost") { DaemonView(daemon: .preview(.lost(.unreachable("no route to host")))) {} }
