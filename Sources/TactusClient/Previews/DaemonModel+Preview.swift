import Foundation

extension DaemonModel {
  /// A daemon for previews of SwiftUI: it shows what is given, and its commands fail as those of a daemon that is not reached.
  /// - Parameters:
  ///   - state: how the app is connected.
  ///   - robot: the robot; `nil` for none. The same holds of the other systems.
  public static func preview(
    _ state: LinkState = .live(.socket), robot: RobotState? = SampleStates.robot, legs: LegsState? = SampleStates.legs,
    sprinkler: SprinklerState? = SampleStates.sprinkler, schedules: [Schedule] = SampleStates.schedules,
    pump: PumpState? = SampleStates.pump, plants: PlantsState? = SampleStates.plants,
    video: VideoState? = SampleStates.video
  ) -> DaemonModel {
    let model = DaemonModel(Endpoint(host: "preview.local"), transport: PreviewTransport())
    model.show(
      state, robot: robot, legs: legs, sprinkler: sprinkler, schedules: schedules, pump: pump, plants: plants,
      video: video)
    return model
  }
}

/// Reaches nobody.
private struct PreviewTransport: Transport {
  func answer(to request: ClientRequest, token: String?) async throws(ClientError) -> ClientAnswer {
    throw .unreachable("this is a preview")
  }

  func openSocket(token: String?) async throws(ClientError) -> any EventSocket {
    throw .unreachable("this is a preview")
  }
}
