public import Foundation  // NSObject

/// A response that is about to be stored, with members of Foundation's class.
public final class CachedURLResponse: NSObject, Sendable {
    /// The head of the response.
    public let response: URLResponse
    /// The body to store in the place of the response's; nil for that one. A block gets nil, since the body was not
    /// read yet.
    public let data: Data?

    /// Creates a response to store.
    public init(response: URLResponse, data: Data?) {
        self.response = response
        self.data = data
    }
}
