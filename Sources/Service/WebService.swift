import Buses
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOPosix
import NIOWebSocket
import Robot
import ServiceLifecycle
import Tactus
import Wire

/// The door: one HTTP and WebSocket server over the systems' mailboxes.
public final class WebService: Sendable {}
