// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are AFNetworking's.

public import Foundation  // NSObject
internal import LinnetAuthentication
internal import LinnetSession

/// The scheme of a challenge that a handler may answer with a password.
public let NSURLAuthenticationMethodHTTPBasic = "NSURLAuthenticationMethodHTTPBasic"
/// The scheme of a challenge that a handler may answer with a password, which is not sent (RFC 7616).
public let NSURLAuthenticationMethodHTTPDigest = "NSURLAuthenticationMethodHTTPDigest"
/// Any other scheme.
public let NSURLAuthenticationMethodDefault = "NSURLAuthenticationMethodDefault"

/// A user name and a password, with the members of Foundation's class.
public final class URLCredential: NSObject, Sendable {
    /// How long a credential is kept. Linnet keeps none that a handler returns, whatever this is.
    public enum Persistence: UInt, Sendable {
        /// The credential is not kept.
        case none = 0
        /// The same as ``none``.
        case forSession = 1
        /// The same as ``none``.
        case permanent = 2
    }

    /// The user name.
    public let user: String?
    /// The password.
    public let password: String?
    /// How long the credential is kept, which has no effect.
    public let persistence: Persistence

    /// Creates a credential.
    public init(user: String, password: String, persistence: Persistence) {
        self.user = user
        self.password = password
        self.persistence = persistence
    }

    /// Whether there is a password.
    public var hasPassword: Bool { password != nil }
}

/// The origin of a challenge, with the members of Foundation's class.
public final class URLProtectionSpace: NSObject, Sendable {
    /// The host.
    public let host: String
    /// The port.
    public let port: Int
    /// `http` or `https`.
    public let `protocol`: String?
    /// The realm that the server names.
    public let realm: String?
    /// The method, such as ``NSURLAuthenticationMethodHTTPBasic``.
    public let authenticationMethod: String

    init(_ attempt: AuthenticationAttempt) {
        let challenge = attempt.challenges.first
        host = attempt.origin.host
        port = Int(attempt.origin.port)
        `protocol` = attempt.origin.scheme
        realm = challenge?.realm
        authenticationMethod =
            switch challenge?.scheme.lowercased() {
            case "basic": NSURLAuthenticationMethodHTTPBasic
            case "digest": NSURLAuthenticationMethodHTTPDigest
            default: NSURLAuthenticationMethodDefault
            }
    }
}

/// A response that requires authentication, with the members of Foundation's class.
public final class URLAuthenticationChallenge: NSObject, Sendable {
    /// The origin of the challenge.
    public let protectionSpace: URLProtectionSpace
    /// The number of credentials that the server has refused for the request.
    public let previousFailureCount: Int
    /// The head of the response.
    public let failureResponse: URLResponse?

    init(_ attempt: AuthenticationAttempt, _ url: URL) {
        protectionSpace = URLProtectionSpace(attempt)
        previousFailureCount = attempt.failures
        failureResponse = HTTPURLResponse(url: url, head: attempt.head)
    }
}

extension URLSession {
    /// A handler's decision on a challenge.
    public enum AuthChallengeDisposition: Int, Sendable {
        /// Use the credential.
        case useCredential = 0
        /// Use the stored credential, if there is one; otherwise the response is as it is.
        case performDefaultHandling = 1
        /// Fail the request.
        case cancelAuthenticationChallenge = 2
        /// Take the response as it is.
        case rejectProtectionSpace = 3
    }
}

extension AuthenticationAttempt.Decision {
    init(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?) throws {
        switch disposition {
        case .useCredential:
            guard let user = credential?.user, let password = credential?.password else {
                self = .performDefault
                return
            }
            self = .use(try .password(username: user, password: password))
        case .performDefaultHandling: self = .performDefault
        case .cancelAuthenticationChallenge: self = .cancel
        case .rejectProtectionSpace: self = .reject
        }
    }
}
