public import Foundation  // Progress
internal import Synchronization

extension AFURLSessionManager {
    /// The progress of a transfer.
    public typealias ProgressBlock = @Sendable (Progress) -> Void
    /// The outcome of a task: the head of the response, what the serializer returned, and the error.
    public typealias CompletionBlock = @Sendable (URLResponse, Any?, (any Error)?) -> Void
    /// Chooses where a download goes, given its temporary file and its response.
    public typealias DestinationBlock = @Sendable (URL, URLResponse) -> URL

    /// Makes a task that reads the response into memory, without progress: a function of AFNetworking 3.
    public func dataTask(with request: URLRequest, completionHandler: CompletionBlock?) -> URLSessionDataTask {
        dataTask(with: request, uploadProgress: nil, downloadProgress: nil, completionHandler: completionHandler)
    }

    /// Whether an upload of a background session that could not be stored is tried up to three times more: a property
    /// of AFNetworking 3. The default is false. An upload that was stored is sent again if it was interrupted, either
    /// way.
    public var attemptsToRecreateUploadTasksForBackgroundSessions: Bool {
        get { state.withLock { $0.attemptsToRecreateUploads } }
        set { state.withLock { $0.attemptsToRecreateUploads = newValue } }
    }

    static func withURL(
        _ handler: @escaping @Sendable (URLResponse, URL?, (any Error)?) -> Void
    ) -> CompletionBlock {
        { response, object, error in handler(response, object as? URL, error) }
    }
}
