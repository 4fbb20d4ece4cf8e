// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are AFNetworking's.

public import Foundation  // NSError
public import LinnetSession

/// The domain of the errors of request serializers, with the codes of `NSURLErrorDomain`.
public let AFURLRequestSerializationErrorDomain = "com.alamofire.error.serialization.request"
/// The domain of the errors of response serializers, with the codes of `NSURLErrorDomain`.
public let AFURLResponseSerializationErrorDomain = "com.alamofire.error.serialization.response"
/// The key of the request in the `userInfo` of an error of a request serializer; AFNetworking never sets it.
public let AFNetworkingOperationFailingURLRequestErrorKey = "com.alamofire.serialization.request.error.response"
/// The key of the ``HTTPURLResponse`` in the `userInfo` of an error.
public let AFNetworkingOperationFailingURLResponseErrorKey = "com.alamofire.serialization.response.error.response"
/// The key of the body, `Data`, in the `userInfo` of an error.
public let AFNetworkingOperationFailingURLResponseDataErrorKey = "com.alamofire.serialization.response.error.data"
/// The key of the data to resume a download in the `userInfo` of an error: what `ResumeData.encoded()` returns.
public let NSURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"
/// The key of the original error in the `userInfo` of an error of the transport.
public let LinnetSessionErrorKey = "LinnetSessionError"

/// The place for a serializer's error; nil to ignore it. The type of `NSErrorPointer` on Linux.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

extension SessionError {
    /// The error as AFNetworking reports it: with the response, the body and the URL that it has. An error about the
    /// response is in ``AFURLResponseSerializationErrorDomain``, and every other in `NSURLErrorDomain`.
    ///
    /// The value of ``LinnetSessionErrorKey`` is this error.
    public var nsError: NSError {
        var info: [String: Any] = [NSLocalizedDescriptionKey: message, LinnetSessionErrorKey: self]
        if let url {
            info[NSURLErrorFailingURLErrorKey] = url
        }
        if let head { info[AFNetworkingOperationFailingURLResponseErrorKey] = HTTPURLResponse(url: url, head: head) }
        if let body { info[AFNetworkingOperationFailingURLResponseDataErrorKey] = body }
        if let underlying { info[NSUnderlyingErrorKey] = underlying as NSError }
        if let data = resumeData?.encoded() { info[NSURLSessionDownloadTaskResumeData] = data }
        let isAboutResponse = code == .unacceptableStatus || code == .unacceptableContentType || code == .decodingFailed
        let domain = isAboutResponse ? AFURLResponseSerializationErrorDomain : NSURLErrorDomain
        return NSError(domain: domain, code: urlErrorCode, userInfo: info)
    }

    private var urlErrorCode: Int { Self.urlErrorCodes[code] ?? NSURLErrorUnknown }

    private static let urlErrorCodes: [Code: Int] = [
        .cancelled: NSURLErrorCancelled, .shutDown: NSURLErrorCancelled, .timeout: NSURLErrorTimedOut,
        .connectionFailed: NSURLErrorCannotConnectToHost, .nameResolutionFailed: NSURLErrorCannotFindHost,
        .connectionLost: NSURLErrorNetworkConnectionLost, .trustRefused: NSURLErrorServerCertificateUntrusted,
        .tlsFailed: NSURLErrorSecureConnectionFailed, .clientCertificateRequired: NSURLErrorClientCertificateRequired,
        .clientCertificateRefused: NSURLErrorClientCertificateRejected, .invalidURL: NSURLErrorBadURL,
        .invalidRequest: NSURLErrorBadURL, .unacceptableStatus: NSURLErrorBadServerResponse,
        .invalidResponse: NSURLErrorBadServerResponse, .unacceptableContentType: NSURLErrorCannotDecodeContentData,
        .decodingFailed: NSURLErrorCannotDecodeContentData, .contentDecodingFailed: NSURLErrorCannotDecodeRawData,
        .bodyTooLarge: NSURLErrorDataLengthExceedsMaximum, .tooManyRedirects: NSURLErrorHTTPTooManyRedirects,
        .redirectRefused: NSURLErrorRedirectToNonExistentLocation, .fileFailed: NSURLErrorCannotWriteToFile,
        .requestBodyFailed: NSURLErrorRequestBodyStreamExhausted, .networkNotAllowed: NSURLErrorDataNotAllowed,
        .notCached: NSURLErrorResourceUnavailable, .authenticationCancelled: NSURLErrorUserCancelledAuthentication,
        .proxyAuthenticationRequired: NSURLErrorUserAuthenticationRequired,
    ]
}
