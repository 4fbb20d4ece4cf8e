public import FoundationEssentials
public import HTTPTypes
public import LinnetSecurity
public import LinnetSerialization
public import LinnetTransport

/// Why a request, or the making of a session, failed.
///
/// Cancellation, each timeout, a refused certificate, a failed connection and bad input have codes of their own.
public struct SessionError: Error, Sendable {
    /// What kind of failure it was.
    public var code: Code
    /// One line that a person can act on.
    public var message: String
    /// Which timeout it was, for ``Code/timeout``.
    public var timeout: Timeout?
    /// The error below, where there is one.
    public var underlying: (any Error)?
    /// Where the request went, without user name and password.
    public var url: URL?
    /// The response's status and header fields, when one had come.
    public var head: HTTPResponse?
    /// The response's body, when one had come whole; of a download that was refused, its first bytes.
    public var body: Data?
    /// Why the policy refused the chain, with the pins that were seen and wanted, for ``Code/trustRefused``.
    public var trustRefusal: TrustRefusal?
    /// Which file it is about and what the system said, for ``Code/fileFailed``.
    public var fileFailure: FileFailure?
    /// With what a download can go on that kept its part; see ``DownloadOptions/keepsPart``.
    public var resumeData: ResumeData?
    /// What each attempt cost, as far as it is known.
    public var metrics: [TransportMetrics] = []
    /// The redirects that were followed before, in order.
    public var redirects: [Redirect] = []

    /// Makes an error.
    public init(_ code: Code, _ message: String, underlying: (any Error)? = nil, url: URL? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
        self.url = url?.withoutUserInfo
    }
}

extension SessionError: CustomStringConvertible {
    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}

extension URL {
    /// The URL without user name and password.
    var withoutUserInfo: URL {
        guard absoluteString.utf8.contains(UInt8(ascii: "@")), user() != nil || password() != nil else { return self }
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
        components.user = nil
        components.password = nil
        return components.url ?? self
    }
}
