import HTTPTypes

/// All routes, found by path. The server answers from this table, and the methods of a 405 and the tests of the OpenAPI document come from it.
public struct RouteTable: Sendable {
  private struct Node {
    var names: [String: Node] = [:]
    /// The name of the parameter in the next segment, or `nil` if this node has none; `below` is the node after that segment.
    var parameter: String?
    var below: [Node] = []
    var routes: [Route] = []
  }

  /// The routes of one path, and the values of its parameters.
  struct Place: Sendable {
    /// The routes, at most one for each method; never empty.
    let routes: [Route]
    let parameters: [String: String]

    /// Returns the route of a method, or `nil` if the path has no route for it. HEAD uses the route of GET.
    func route(_ method: HTTPRequest.Method) -> Route? {
      let method = method == .head ? .get : method
      return routes.first { $0.method == method }
    }

    /// The allowed methods as in the `Allow` field: `GET, HEAD, PUT`.
    var allow: String {
      let methods = routes.flatMap { $0.method == .get ? ["GET", "HEAD"] : [$0.method.rawValue] }
      return methods.sorted().joined(separator: ", ")
    }
  }

  /// All routes in the order given.
  public let routes: [Route]
  private var root = Node()

  /// Makes the table. Two routes with the same method and path, or a parameter with two names, trap.
  public init(_ routes: [Route]) {
    self.routes = routes
    for route in routes {
      precondition(
        route.method != .head && route.method != .options, "\(route.path): HEAD and OPTIONS come by themselves")
      let segments = route.path.split(separator: "/").map(String.init)
      Self.insert(route, segments[...], into: &root)
    }
  }

  private static func insert(_ route: Route, _ segments: ArraySlice<String>, into node: inout Node) {
    guard let first = segments.first else {
      precondition(!node.routes.contains { $0.method == route.method }, "\(route.method) \(route.path) twice")
      node.routes.append(route)
      return
    }
    if first.hasPrefix("{"), first.hasSuffix("}") {
      let name = String(first.dropFirst().dropLast())
      precondition(node.parameter == nil || node.parameter == name, "\(route.path): {\(node.parameter!)} elsewhere")
      node.parameter = name
      if node.below.isEmpty { node.below.append(Node()) }
      insert(route, segments.dropFirst(), into: &node.below[0])
    } else {
      insert(route, segments.dropFirst(), into: &node.names[first, default: Node()])
    }
  }

  /// Returns the place of a path, or `nil` if no route has that path. A literal segment takes precedence over a
  /// parameter: `/zones/all` over `/zones/{id}`.
  func place(_ segments: [String]) -> Place? {
    var node = root
    var parameters: [String: String] = [:]
    for segment in segments {
      if let next = node.names[segment] {
        node = next
      } else if let next = node.below.first, !segment.isEmpty {
        parameters[node.parameter!] = segment
        node = next
      } else {
        return nil
      }
    }
    return node.routes.isEmpty ? nil : Place(routes: node.routes, parameters: parameters)
  }

  /// The routes with prepared documents, by their exact path.
  var prepared: [String: (route: Route, document: PreparedDocument)] {
    var result: [String: (route: Route, document: PreparedDocument)] = [:]
    for route in routes {
      if case .prepared(let document) = route.handling { result[route.path] = (route, document) }
    }
    return result
  }
}
