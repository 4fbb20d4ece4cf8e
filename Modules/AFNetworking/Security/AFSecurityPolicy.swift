public import Foundation  // NSObject, Bundle
internal import LinnetMessages
public import LinnetSecurity
internal import Synchronization

/// The part of a certificate that is compared with the pinned certificates.
public enum AFSSLPinningMode: UInt, Sendable {
    /// Nothing is pinned; the system's anchors decide.
    case none = 0
    /// Public keys are compared.
    case publicKey = 1
    /// Certificates are compared byte for byte, and are the only anchors.
    case certificate = 2
}

// SAFETY: The mutable state is in a mutex, and the mode is constant.
/// Decides whether a server is trusted: AFNetworking's face of `SecurityPolicy`.
///
/// A change applies to the new connections of the managers that have the policy, and closes the idle ones. A
/// combination that nothing could enforce, such as a pinning mode without certificates, trusts no server.
open class AFSecurityPolicy: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    private struct State {
        var certificates: Set<Data>?
        var allowsInvalid = false
        var validatesHost = true
        var observers: [ObjectIdentifier: @Sendable (SecurityPolicy) -> Void] = [:]
    }

    /// The part of a certificate that is compared.
    public let sslPinningMode: AFSSLPinningMode
    private let state = Mutex(State())

    /// Creates a policy that leaves the decision to the system's anchors.
    public override convenience init() { self.init(pinningMode: .none) }

    /// Creates a policy that pins the certificates in the main bundle's resources.
    public convenience init(pinningMode: AFSSLPinningMode) {
        self.init(
            pinningMode: pinningMode,
            withPinnedCertificates: pinningMode == .none ? [] : Self.certificates(in: .main))
    }

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - pinningMode: The compared part of a certificate.
    ///   - pinnedCertificates: The certificates in DER or PEM. If one cannot be read, no server is trusted.
    public init(pinningMode: AFSSLPinningMode, withPinnedCertificates pinnedCertificates: Set<Data>) {
        sslPinningMode = pinningMode
        super.init()
        state.withLock { $0.certificates = pinnedCertificates }
    }

    /// Decodes a policy, or makes a copy of one; nil for an archive that has no policy, so that none is
    /// replaced by a weaker one.
    public required init?(coder: NSCoder) {
        let original = coder.original(as: AFSecurityPolicy.self)
        guard let settings = original?.settings ?? coder.decodeSettings(Settings.self, of: Self.key),
            let mode = AFSSLPinningMode(rawValue: settings.mode)
        else { return nil }
        sslPinningMode = mode
        super.init()
        state.withLock { state in
            state.certificates = settings.certificates
            state.allowsInvalid = settings.allowsInvalid
            state.validatesHost = settings.validatesHost
        }
    }

    /// Returns the policy that leaves the decision to the system's anchors.
    open class func `default`() -> AFSecurityPolicy { AFSecurityPolicy(pinningMode: .none) }

    /// Returns the certificates in the files of a bundle that end in `.cer`.
    open class func certificates(in bundle: Bundle) -> Set<Data> {
        let paths = bundle.paths(forResourcesOfType: "cer", inDirectory: nil)
        return Set(paths.compactMap { try? Data(contentsOf: URL(filePath: $0)) })
    }

    // MARK: Copies

    /// The archived properties.
    private struct Settings: Codable {
        let mode: UInt
        let certificates: Set<Data>?
        let allowsInvalid: Bool
        let validatesHost: Bool
    }

    private static let key = "AFSecurityPolicy"

    private var settings: Settings {
        state.withLock { state in
            Settings(
                mode: sslPinningMode.rawValue, certificates: state.certificates, allowsInvalid: state.allowsInvalid,
                validatesHost: state.validatesHost)
        }
    }

    /// Archives are secure.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes all settings.
    open func encode(with coder: NSCoder) { coder.encode(settings: settings, of: Self.key) }

    /// Returns a policy with the same settings, made by `init(coder:)`.
    open func copy(with zone: NSZone? = nil) -> Any {
        CopyingCoder.copy(of: self) ?? AFSecurityPolicy.default()
    }

    // MARK: Settings

    /// The pinned certificates in DER or PEM.
    open var pinnedCertificates: Set<Data>? {
        get { state.withLock { $0.certificates } }
        set { change { $0.certificates = newValue } }
    }

    /// Whether a chain is accepted that leads to no anchor, such as a self-signed certificate. The default is false.
    open var allowInvalidCertificates: Bool {
        get { state.withLock { $0.allowsInvalid } }
        set { change { $0.allowsInvalid = newValue } }
    }

    /// Whether the certificate has to match the host. The default is true.
    open var validatesDomainName: Bool {
        get { state.withLock { $0.validatesHost } }
        set { change { $0.validatesHost = newValue } }
    }

    /// Evaluates a server's chain.
    open func evaluate(_ trust: ServerTrust) async -> TrustDecision { await policy.evaluate(trust) }

    /// The policy as Linnet enforces it.
    public var policy: SecurityPolicy { Self.policy(sslPinningMode, state.withLock { $0 }) }

    private func change(_ change: (inout State) -> Void) {
        let state = state.withLock { state in
            change(&state)
            return state
        }
        guard !state.observers.isEmpty else { return }
        let policy = Self.policy(sslPinningMode, state)
        for observer in state.observers.values { observer(policy) }
    }

    /// Calls a function with each later policy, until the owner's observation is removed.
    func observe(for owner: AnyObject, _ observer: (@Sendable (SecurityPolicy) -> Void)?) {
        let id = ObjectIdentifier(owner)
        state.replace(\.observers[id], with: observer)
    }

    private static func policy(_ mode: AFSSLPinningMode, _ state: State) -> SecurityPolicy {
        do {
            var certificates: [X509Certificate] = []
            for data in (state.certificates ?? []).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                certificates += try X509Certificate.all(data: data)
            }
            return try .pinning(
                mode: mode.linnet, certificates: certificates, allowInvalidCertificates: state.allowsInvalid,
                validatesDomainName: state.validatesHost)
        } catch {
            return .everyHost(.refuse)
        }
    }
}

extension AFSSLPinningMode {
    fileprivate var linnet: PinningMode {
        switch self {
        case .none: .none
        case .publicKey: .publicKey
        case .certificate: .certificate
        }
    }
}
