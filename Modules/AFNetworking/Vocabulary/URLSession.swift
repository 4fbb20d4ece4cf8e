public import Foundation  // NSObject
internal import LinnetMessages
public import LinnetSession
internal import LinnetTransport
internal import Synchronization

// SAFETY: The mutable state is in a mutex, and the transport is constant.
/// The configuration of a manager's session, with members of Foundation's class: a face of `HTTPSession.Configuration`.
public final class URLSessionConfiguration: NSObject, NSCopying, @unchecked Sendable {
    private let state: Mutex<HTTPSession.Configuration>
    private let backgroundState: Mutex<BackgroundSettings?>
    /// Replaces the sockets.
    let transport: (any Transport)?

    /// Creates a configuration from Linnet's. The callback executor, the security policy and the hooks are replaced by
    /// the manager's.
    public convenience init(_ configuration: HTTPSession.Configuration) {
        self.init(configuration, transport: nil)
    }

    package init(
        _ configuration: HTTPSession.Configuration, transport: (any Transport)?, background: BackgroundSettings? = nil
    ) {
        state = Mutex(configuration)
        backgroundState = Mutex(background)
        self.transport = transport
    }

    /// A configuration that stores cookies and responses in memory.
    public class var `default`: URLSessionConfiguration { URLSessionConfiguration(.ephemeral) }

    /// The same as ``default``: nothing is written to a disk.
    public class var ephemeral: URLSessionConfiguration { URLSessionConfiguration(.ephemeral) }

    /// Returns a configuration with the same settings.
    public func copy(with zone: NSZone? = nil) -> Any {
        URLSessionConfiguration(configuration, transport: transport, background: background)
    }

    /// The configuration of a background session, which LinnetAFNetworkingBackground makes.
    @available(*, unavailable, message: "Import LinnetAFNetworkingBackground, which has background sessions.")
    public static func background(withIdentifier identifier: String) -> URLSessionConfiguration { .default }

    /// The name of a background session; nil for any other.
    public var identifier: String? { background?.identifier }

    package var background: BackgroundSettings? {
        get { backgroundState.withLock { $0 } }
        set { backgroundState.replace(\.self, with: newValue) }
    }

    /// Linnet's configuration, with everything that Foundation's does not have.
    public var configuration: HTTPSession.Configuration {
        get { state.withLock { $0 } }
        set { state.replace(\.self, with: newValue) }
    }

    /// The header fields that requests get in addition to their own. Fields that cannot be sent are left out.
    public var httpAdditionalHeaders: [AnyHashable: Any]? {
        get {
            var fields: [AnyHashable: Any] = [:]
            for field in configuration.headerFields { fields[field.name.rawName] = field.value }
            return fields.isEmpty ? nil : fields
        }
        set {
            state.withLock { configuration in
                configuration.headerFields = [:]
                for (name, value) in newValue ?? [:] {
                    try? configuration.headerFields.set("\(value)", forName: "\(name.base)")
                }
            }
        }
    }

    /// The time limit in seconds without a byte from the server.
    public var timeoutIntervalForRequest: TimeInterval {
        get { (configuration.timeouts.idleRead ?? .seconds(1e9)) / .seconds(1) }
        set { configuration.timeouts.idleRead = newValue < 1e9 ? .seconds(max(newValue, 0)) : nil }
    }

    /// The time limit in seconds for a whole request.
    public var timeoutIntervalForResource: TimeInterval {
        get { (configuration.timeouts.request ?? .seconds(1e9)) / .seconds(1) }
        set { configuration.timeouts.request = newValue < 1e9 ? .seconds(max(newValue, 0)) : nil }
    }

    /// The number of connections to one host.
    public var httpMaximumConnectionsPerHost: Int {
        get { configuration.pool.connectionsPerOrigin }
        set { configuration.pool.connectionsPerOrigin = max(1, newValue) }
    }
}

/// A manager's session, as its blocks receive it: a face of `HTTPSession`.
public final class URLSession: NSObject, Sendable {
    /// The decision on a data task's response whose body was not read yet.
    public enum ResponseDisposition: Int, Sendable {
        /// The task is cancelled.
        case cancel = 0
        /// The body is read.
        case allow = 1
        /// The body is written to a file: the task becomes a download.
        case becomeDownload = 2
    }

    /// The configuration that the session was made with.
    public let configuration: URLSessionConfiguration
    /// Linnet's session; an error if the configuration cannot be enforced, in which case every task fails with it.
    public let result: Result<HTTPSession, SessionError>

    /// Keeps the tasks of a background session.
    let engine: (any BackgroundEngine)?

    init(
        _ configuration: URLSessionConfiguration, _ result: Result<HTTPSession, SessionError>,
        _ engine: (any BackgroundEngine)?
    ) {
        self.configuration = configuration
        self.result = result
        self.engine = engine
    }

    /// Ends the session. Without a background session, tasks cannot be left: the session waits for their ends.
    func end(_ ending: BackgroundEnding) {
        guard case .success(let http) = result else { return }
        guard let engine else { return http.startShutdown(ending == .cancelling ? .immediate : .graceful) }
        engine.close(ending) { http.startShutdown(.graceful) }
    }
}
