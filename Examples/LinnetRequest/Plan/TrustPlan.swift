import ExampleSupport
import FoundationEssentials
import Linnet

/// The rules about a server's certificates.
enum TrustPlan {
    /// Returns the policy for the server of the URL.
    static func policy(_ arguments: ConnectionArguments, url: URL) throws -> SecurityPolicy {
        let isTrustAsked = !arguments.pins.isEmpty || arguments.cacert != nil
        if let path = arguments.policy {
            guard !isTrustAsked, !arguments.isInsecure else {
                throw UsageError("--policy excludes --pin, --cacert and -k.")
            }
            return try read(path)
        }
        if arguments.isInsecure {
            guard !isTrustAsked else { throw UsageError("-k excludes --pin and --cacert.") }
            return .everyHost(.insecureAcceptAnyCertificate.insecureAllowingCleartext())
        }
        guard !isTrustAsked || url.scheme?.lowercased() == "https" else {
            throw UsageError("--pin and --cacert need an https URL, but the URL is \(url.absoluteString).")
        }
        return try policy(cacert: arguments.cacert, pins: arguments.pins)
    }

    /// Returns the policy for an OAuth issuer, to which pins do not apply.
    static func issuerPolicy(_ arguments: ConnectionArguments) throws -> SecurityPolicy {
        try policy(cacert: arguments.cacert, pins: [])
    }

    private static func read(_ path: String) throws -> SecurityPolicy {
        do {
            return try .file(path)
        } catch {
            throw UsageError("--policy: " + error.message)
        }
    }

    private static func policy(cacert: String?, pins: [String]) throws -> SecurityPolicy {
        do {
            let anchors: TrustAnchors = try cacert.map { try .file($0) } ?? .system
            let pins = try pins.map { try PublicKeyPin($0) }
            guard pins.isEmpty else { return try .publicKeyPins(pins, anchors: anchors) }
            // An http URL is an explicit choice; --cacert applies to https only.
            return .everyHost(.systemTrust(anchors: anchors).insecureAllowingCleartext())
        } catch let error as SecurityError {
            throw UsageError((error.code == .invalidPin ? "--pin " : "--cacert: ") + error.message)
        }
    }
}
