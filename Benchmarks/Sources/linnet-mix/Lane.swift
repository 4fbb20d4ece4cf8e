import BenchMemory
import Foundation
import Linnet
import Synchronization

/// A way to a server: a session, and the server in a process of its own.
final class Lane: Sendable {
    enum Name: String, CaseIterable, Sendable {
        /// HTTP/1.1 without TLS.
        case plain
        /// HTTP/1.1 over TLS, with pins.
        case tls
        /// HTTP/2 over TLS, with pins.
        case h2
        /// HTTP/1.1 over TLS with pins, through a SOCKS proxy that delays, slows and cuts.
        case proxy
        /// HTTP/2 over TLS with pins, to another network namespace, over a link that loses packets and goes down.
        case link

        var hasTLS: Bool { self != .plain }
        var isHTTP2: Bool { self == .h2 || self == .link }
    }

    /// The policies of a session that accept the server.
    enum Policy: CaseIterable {
        case pin, pinAndBackup, certificatePin, anchors
    }

    let name: Name
    let base: URL
    let session: HTTPSession
    let configuration: HTTPSession.Configuration
    private let ledger: String
    private let link: Link?
    private let child: Mutex<Child>

    init(_ name: Name, ledger: String, link: Link?) throws {
        self.name = name
        self.ledger = ledger
        self.link = name == .link ? link : nil
        let child = try Child(name, port: 0, ledger: ledger, link: self.link)
        guard let base = URL(string: "\(name.hasTLS ? "https" : "http")://\(child.host):\(child.port)/") else {
            throw Failure("The port \(child.port) of \(name) is invalid.")
        }
        self.base = base
        var configuration = HTTPSession.Configuration()
        configuration.httpVersions = name.isHTTP2 ? .http2 : .http1
        configuration.cookieJar = CookieJar()
        configuration.cacheStore = MemoryCacheStore(limit: 64 * 1024, entryLimit: 32 * 1024)
        configuration.pool.connectionsPerOrigin = 8
        configuration.timeouts.connect = .seconds(4)
        configuration.timeouts.tlsHandshake = .seconds(4)
        configuration.timeouts.idleRead = .seconds(8)
        configuration.timeouts.idleWrite = .seconds(8)
        configuration.proxies = .none
        if name.hasTLS { configuration.securityPolicy = try child.policy(.pin) }
        if let port = child.proxyPort {
            configuration.proxies = .fixed(try Proxy(.socks5, host: "127.0.0.1", port: port))
        }
        self.configuration = configuration
        session = try HTTPSession(baseURL: base, configuration: configuration)
        self.child = Mutex(child)
    }

    /// Sends a line to the server.
    func tellServer(_ line: String) { child.withLock { $0.process.write(line) } }

    /// Kills the server, and starts another on the same ports, with new keys, which the session accepts from then on.
    func restart() throws {
        let former = child.withLock { $0 }
        former.process.end(SIGKILL)
        let next = try Child(
            name, port: former.port, proxyPort: former.proxyPort ?? 0, ledger: ledger, link: link)
        child.withLock { $0 = next }
        try use(.pin)
    }

    func use(_ policy: Policy) throws {
        guard name.hasTLS else { return }
        try session.replaceSecurityPolicy(child.withLock { $0 }.policy(policy))
    }

    /// Makes the session refuse the server.
    func refuse() throws {
        try session.replaceSecurityPolicy(
            .publicKeyPins([Child.otherPin()], anchors: child.withLock { $0 }.anchors))
    }

    func end() { child.withLock { _ = $0.process.end(SIGKILL) } }
}

/// The server of a lane.
struct Child: Sendable {
    let process: Spawn
    let host: String
    let port: Int
    let proxyPort: Int?
    let anchors: TrustAnchors
    private let pin: PublicKeyPin
    private let root: X509Certificate

    init(_ name: Lane.Name, port: Int, proxyPort: Int = 0, ledger: String, link: Link?) throws {
        let program = "/proc/\(getpid())/exe"
        var arguments = link.map { ["ip", "netns", "exec", $0.namespace] } ?? []
        host = link?.address ?? "127.0.0.1"
        arguments += [program, "serve", name.rawValue, host, "\(port)", "\(proxyPort)", ledger]
        process = try Spawn(arguments)
        let words = try process.readLine().split(separator: " ").map(String.init)
        guard words.count == 4, let port = Int(words[0]), let proxyPort = Int(words[1]),
            let pem = Data(base64Encoded: words[2])
        else { throw Failure("The output of the server of \(name) is invalid: \(words)") }
        self.port = port
        self.proxyPort = proxyPort == 0 ? nil : proxyPort
        root = try X509Certificate(pem: String(decoding: pem, as: UTF8.self))
        anchors = try .certificates([root])
        pin = try PublicKeyPin(words[3])
    }

    func policy(_ policy: Lane.Policy) throws -> SecurityPolicy {
        switch policy {
        case .pin: try .publicKeyPins([pin], anchors: anchors)
        case .pinAndBackup: try .publicKeyPins([Self.otherPin(), pin], anchors: anchors)
        case .certificatePin: try .certificatePins([root], anchors: anchors)
        case .anchors: .systemTrust(anchors: anchors)
        }
    }

    /// The pin of no server.
    static func otherPin() throws -> PublicKeyPin {
        try PublicKeyPin("sha256/" + Data(repeating: 7, count: 32).base64EncodedString())
    }
}
