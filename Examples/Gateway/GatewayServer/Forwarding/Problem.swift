import HTTPTypes
import Hummingbird

/// A response that the gateway makes itself (RFC 9457). Its texts are constant, so that it shows nothing of the
/// upstream.
struct Problem: Error {
    let status: HTTPResponse.Status
    let detail: String

    init(_ status: HTTPResponse.Status, _ detail: String) {
        self.status = status
        self.detail = detail
    }

    static let notFound = Problem(.notFound, "The gateway has no such path.")
    static let invalidPath = Problem(.badRequest, "The path is not one that the gateway forwards.")
    static let invalidTimeout = Problem(.badRequest, "X-Request-Timeout-Ms is not a number of milliseconds.")
    static let invalidRequest = Problem(.badRequest, "The request cannot be forwarded as it is.")
    static let methodNotAllowed = Problem(.methodNotAllowed, "The gateway does not forward this method.")
    static let contentTooLarge = Problem(.contentTooLarge, "The content exceeds the gateway's limit.")
    static let timeout = Problem(.gatewayTimeout, "The upstream did not answer in time.")
    static let notReady = Problem(.serviceUnavailable, "The gateway is about to end.")

    init(_ error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case UpstreamFailure.overloaded, UpstreamFailure.cancelled:
            self.init(.serviceUnavailable, "The upstream has no capacity now.")
        case UpstreamFailure.late: self = .timeout
        case UpstreamFailure.invalidRequest: self = .invalidRequest
        default: self.init(.badGateway, "The upstream did not answer.")
        }
    }

    var response: Response {
        Response(
            status: status,
            text: """
                {"type":"about:blank","title":"\(status.reasonPhrase)","status":\(status.code),"detail":"\(detail)"}
                """,
            type: "application/problem+json")
    }
}
