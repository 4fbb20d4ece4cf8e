import ExampleSupport
import FoundationEssentials
import Linnet

/// The validated command line.
struct RequestPlan {
    private static let longestTimeout = 1_000_000.0

    let request: SessionRequest
    let policy: SecurityPolicy
    /// The timeout of the whole request; nil for none.
    let timeout: Duration?
    let httpVersions: HTTPVersions
    let proxies: ProxyPolicy
    let resolution: TransportConfiguration.Resolution
    /// The login; nil for none.
    let login: LoginPlan?
    /// The policy for the issuer, to which pins do not apply.
    let issuerPolicy: SecurityPolicy

    init(_ arguments: Arguments) throws {
        let url = try Self.url(arguments.url)
        policy = try Self.policy(arguments, pins: arguments.pins)
        let isTrustAsked = !arguments.pins.isEmpty || arguments.cacert != nil
        guard !isTrustAsked || url.scheme?.lowercased() == "https" else {
            throw UsageError("--pin and --cacert need an https URL, but the URL is \(arguments.url).")
        }
        httpVersions = arguments.usesHTTP1 ? .http1 : .automatic
        timeout = try arguments.timeout.map(Self.timeout)
        proxies = try arguments.proxy.map(Self.proxies) ?? .none
        resolution = try Self.resolution(arguments, url)
        request = SessionRequest(url: url, headerFields: try Self.headerFields(arguments.headers))
        login = try LoginPlan(arguments)
        issuerPolicy = try Self.policy(arguments, pins: [])
        guard login == nil || !request.headerFields.contains(.authorization) else {
            throw UsageError("--login and a header field Authorization exclude each other.")
        }
        // A Bearer token leaves this machine encrypted only (RFC 6750, section 5.3).
        guard login == nil || url.scheme?.lowercased() == "https" || Self.staysOnThisMachine(arguments, url) else {
            throw UsageError("--login needs an https URL, but the URL is \(arguments.url).")
        }
        // An issuer on this machine may be http, but the proxy would see the tokens.
        guard arguments.proxy == nil || login?.issuer.lowercased().hasPrefix("http:") != true else {
            throw UsageError("--login at an http issuer and --proxy exclude each other.")
        }
    }

    private static func staysOnThisMachine(_ arguments: Arguments, _ url: URL) -> Bool {
        guard arguments.proxy == nil, let origin = Origin(url.absoluteString) else { return false }
        return arguments.unixSocket != nil || ["localhost", "127.0.0.1", "::1"].contains(origin.host)
    }

    private static func url(_ text: String) throws -> URL {
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
            url.host()?.isEmpty == false
        else {
            throw UsageError(
                "\"\(text)\" is not an http or https URL with a host; the format is https://example.com/.")
        }
        return url
    }

    private static func policy(_ arguments: Arguments, pins: [String]) throws -> SecurityPolicy {
        do {
            let anchors: TrustAnchors = try arguments.cacert.map { try .file($0) } ?? .system
            let pins = try pins.map { try PublicKeyPin($0) }
            guard pins.isEmpty else { return try .publicKeyPins(pins, anchors: anchors) }
            // An http URL is an explicit choice; --cacert applies to https only.
            return .everyHost(.systemTrust(anchors: anchors).insecureAllowingCleartext())
        } catch let error as SecurityError {
            throw UsageError((error.code == .invalidPin ? "--pin " : "--cacert: ") + error.message)
        }
    }

    private static func timeout(_ seconds: Double) throws -> Duration {
        guard seconds > 0, seconds <= longestTimeout else {
            throw UsageError("--timeout \(seconds) is out of range; specify seconds above 0, up to 1000000.")
        }
        return .seconds(seconds)
    }

    private static func proxies(_ url: String) throws -> ProxyPolicy {
        do {
            return .fixed(try Proxy(url))
        } catch {
            throw UsageError("--proxy: " + error.message)
        }
    }

    private static func resolution(_ arguments: Arguments, _ url: URL) throws -> TransportConfiguration.Resolution {
        var options = TransportConfiguration.Resolution()
        guard let path = arguments.unixSocket, let origin = Origin(url.absoluteString) else { return options }
        guard arguments.proxy == nil else {
            throw UsageError("--unix-socket and --proxy exclude each other.")
        }
        options.unixSockets = [origin.host: path]
        return options
    }

    private static func headerFields(_ texts: [String]) throws -> HTTPFields {
        var fields = HTTPFields()
        for text in texts {
            guard let colon = text.firstIndex(of: ":"), let name = HTTPField.Name(String(text[..<colon])),
                case let value = trimmed(text[text.index(after: colon)...]), HTTPField.isValidValue(value)
            else {
                throw UsageError("--header \"\(text)\" is not a header field; the format is \"Name: value\".")
            }
            fields.append(HTTPField(name: name, value: value))
        }
        return fields
    }

    /// Removes the whitespace around a field's value, which is not part of it (RFC 9110, 5.5).
    private static func trimmed(_ text: Substring) -> String {
        var value = text.drop { $0 == " " || $0 == "\t" }
        while let last = value.last, last == " " || last == "\t" { value.removeLast() }
        return String(value)
    }
}
