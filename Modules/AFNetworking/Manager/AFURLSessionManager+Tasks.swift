public import Foundation  // Progress
internal import LinnetSerialization
internal import LinnetSession

// The tasks. Each is suspended until it is resumed.
extension AFURLSessionManager {
    /// The progress of a transfer.
    public typealias ProgressBlock = @Sendable (Progress) -> Void
    /// The outcome of a task: the head of the response, what the serializer returned, and the error.
    public typealias CompletionBlock = @Sendable (URLResponse, Any?, (any Error)?) -> Void
    /// Chooses where a download goes, given its temporary file and its response.
    public typealias DestinationBlock = @Sendable (URL, URLResponse) -> URL

    /// Makes a task that reads the response into memory.
    public func dataTask(
        with request: URLRequest, uploadProgress: ProgressBlock?, downloadProgress: ProgressBlock?,
        completionHandler: CompletionBlock? = nil
    ) -> URLSessionDataTask {
        makeTask(request, .success(request.body), TaskBlocks(uploadProgress, downloadProgress, completionHandler))
    }

    /// Makes a task that reads the response into memory, without progress: a function of AFNetworking 3.
    public func dataTask(with request: URLRequest, completionHandler: CompletionBlock?) -> URLSessionDataTask {
        dataTask(with: request, uploadProgress: nil, downloadProgress: nil, completionHandler: completionHandler)
    }

    /// Makes a task that sends a file. One that cannot be read fails the task.
    public func uploadTask(
        with request: URLRequest, fromFile fileURL: URL, progress: ProgressBlock?,
        completionHandler: CompletionBlock? = nil
    ) -> URLSessionUploadTask {
        let body = Result { () throws(SessionError) -> HTTPRequestBody? in
            do throws(SerializationError) {
                return try .file(fileURL)
            } catch {
                throw SessionError(.fileFailed, error.message, underlying: error, url: request.url)
            }
        }
        return makeTask(request, body, TaskBlocks(progress, nil, completionHandler))
    }

    /// Makes a task that sends data.
    public func uploadTask(
        with request: URLRequest, from bodyData: Data?, progress: ProgressBlock?,
        completionHandler: CompletionBlock? = nil
    ) -> URLSessionUploadTask {
        makeTask(request, .success(.data(bodyData ?? Data())), TaskBlocks(progress, nil, completionHandler))
    }

    /// Makes a task that sends the body of the request, such as a form.
    public func uploadTask(
        withStreamedRequest request: URLRequest, progress: ProgressBlock?,
        completionHandler: CompletionBlock? = nil
    ) -> URLSessionUploadTask {
        makeTask(request, .success(request.body), TaskBlocks(progress, nil, completionHandler))
    }

    /// Makes a task that writes the response to a file, which appears at its destination complete and valid, or not at
    /// all. Without a destination, the file stays in the folder for temporary files.
    public func downloadTask(
        with request: URLRequest, progress: ProgressBlock?, destination: DestinationBlock?,
        completionHandler: (@Sendable (URLResponse, URL?, (any Error)?) -> Void)? = nil
    ) -> URLSessionDownloadTask {
        makeDownload(request, nil, destination, TaskBlocks(nil, progress, completionHandler.map(Self.withURL)))
    }

    /// Makes a task that resumes a download from the data of `NSURLSessionDownloadTaskResumeData`, or of
    /// `cancel(byProducingResumeData:)`.
    public func downloadTask(
        withResumeData resumeData: Data, progress: ProgressBlock?, destination: DestinationBlock?,
        completionHandler: (@Sendable (URLResponse, URL?, (any Error)?) -> Void)? = nil
    ) -> URLSessionDownloadTask {
        let blocks = TaskBlocks(nil, progress, completionHandler.map(Self.withURL))
        let data = Result { () throws(SessionError) in try ResumeData(decoding: resumeData) }
        let url = try? data.get().url
        var request = URLRequest(url: url ?? URL(filePath: "/"))
        request.url = url
        return makeDownload(request, data, destination, blocks)
    }

    private static func withURL(
        _ handler: @escaping @Sendable (URLResponse, URL?, (any Error)?) -> Void
    ) -> CompletionBlock {
        { response, object, error in handler(response, object as? URL, error) }
    }
}
