internal import Dispatch
public import Foundation  // NSError
internal import HTTPTypes
internal import LinnetMultipart
internal import LinnetSerialization
internal import LinnetTransport

/// The size of packets that `throttleBandwidth(withPacketSize:delay:)` suggests for a slow network.
public let kAFUploadStream3GSuggestedPacketSize: UInt = 1024 * 16
/// The delay in seconds that `throttleBandwidth(withPacketSize:delay:)` suggests for a slow network.
public let kAFUploadStream3GSuggestedDelay: TimeInterval = 0.2

/// The form that a block fills.
public protocol AFMultipartFormData: AnyObject {
    /// Appends a file, which is read while the form is sent, under its own name and with the type of its extension.
    func appendPart(withFileURL fileURL: URL, name: String) throws
    /// Appends a file, which is read while the form is sent.
    func appendPart(withFileURL fileURL: URL, name: String, fileName: String, mimeType: String) throws
    /// Appends a stream of so many bytes, which is read while the form is sent, once: a request with it is not sent
    /// again.
    func appendPart(with inputStream: InputStream?, name: String, fileName: String, length: Int64, mimeType: String)
    /// Appends data as a file.
    func appendPart(withFileData data: Data, name: String, fileName: String, mimeType: String)
    /// Appends data without a file name.
    func appendPart(withForm data: Data, name: String)
    /// Appends data with the given header fields only.
    func appendPart(withHeaders headers: [String: String]?, body: Data)
    /// Limits the rate of the body: packets of at most so many bytes, with a delay in seconds before each except the
    /// first.
    func throttleBandwidth(withPacketSize numberOfBytes: UInt, delay: TimeInterval)
}

/// A form that a block fills, and that becomes the body of a request.
final class StreamingMultipartFormData: AFMultipartFormData {
    var form = MultipartForm()
    /// The first part that could not be appended.
    private(set) var failure: NSError?

    func appendPart(withFileURL fileURL: URL, name: String) throws {
        try form.append(fileAt: fileURL, name: name)
    }

    func appendPart(withFileURL fileURL: URL, name: String, fileName: String, mimeType: String) throws {
        try form.append(fileAt: fileURL, name: name, fileName: fileName, contentType: mimeType)
    }

    func appendPart(with inputStream: InputStream?, name: String, fileName: String, length: Int64, mimeType: String) {
        guard let inputStream else {
            return appendPart(withFileData: Data(), name: name, fileName: fileName, mimeType: mimeType)
        }
        let stream = UncheckedBox(inputStream)
        form.append(
            stream: { InputStreamReader(stream) }, name: name, fileName: fileName, contentType: mimeType,
            length: length,
            isReplayable: false)
    }

    func appendPart(withFileData data: Data, name: String, fileName: String, mimeType: String) {
        form.append(data, name: name, fileName: fileName, contentType: mimeType)
    }

    func appendPart(withForm data: Data, name: String) { form.append(data, name: name) }

    func appendPart(withHeaders headers: [String: String]?, body: Data) {
        var fields = HTTPFields()
        do {
            for (name, value) in (headers ?? [:]).sorted(by: { $0.key < $1.key }) {
                try fields.set(value, forName: name)
            }
            form.append(headerFields: fields, body: body)
        } catch {
            failure = failure ?? .unserializable(error.message)
        }
    }

    func throttleBandwidth(withPacketSize numberOfBytes: UInt, delay: TimeInterval) {
        form.throttle(packetSize: Int(clamping: numberOfBytes), delay: .seconds(min(max(delay, 0), 1e9)))
    }

}

extension AFHTTPRequestSerializer {
    /// Writes the body of a request to a file, and returns the request without its body, for an upload of the file.
    ///
    /// - Parameters:
    ///   - request: The request, which keeps its header fields, such as the Content-Type of a form.
    ///   - fileURL: The file, which is replaced. After a failure there is none.
    ///   - handler: Called once, on the main queue, with the error or nil.
    public func request(
        withMultipartFormRequest request: URLRequest, writingStreamContentsToFile fileURL: URL,
        completionHandler handler: (@Sendable ((any Error)?) -> Void)?
    ) -> URLRequest {
        var bare = request
        bare.body = nil
        // Writing blocks, which the threads of the concurrency pool must not.
        Task(executorPreference: FileExecutor.shared) {
            var failure: (any Error)?
            do {
                try await request.body.write(to: fileURL)
            } catch {
                failure = error
            }
            DispatchQueue.main.async { [failure] in handler?(failure) }
        }
        return bare
    }

    /// Makes a request with a form as its body: the parameters, each as a part, and what a block appends. Nil with an
    /// error if it cannot be made. A form without parts has no body.
    public func multipartFormRequest(
        withMethod method: String, urlString: String, parameters: [String: Any]?,
        constructingBodyWith block: ((any AFMultipartFormData) -> Void)?, error: NSErrorPointer
    ) -> URLRequest? {
        guard var request = request(withMethod: method, urlString: urlString, parameters: nil, error: error) else {
            return nil
        }
        do {
            let data = StreamingMultipartFormData()
            if let parameters {
                let root = try ParameterValue(foundation: parameters, isLenient: true)
                try data.form.append(RequestParameters(root))
            }
            block?(data)
            request.body = nil
            if let failure = data.failure { throw failure }
            guard !data.form.isEmpty else { return request }
            try data.form.validate()
            request.body = data.form.makeBody()
            request.setValue(data.form.contentType, forHTTPHeaderField: "Content-Type")
            return request
        } catch let failure as MultipartError {
            error?.pointee = .unserializable(failure.message)
        } catch let failure {
            error?.pointee = failure as NSError
        }
        return nil
    }
}

extension HTTPRequestBody? {
    /// Writes the body to a file, piece by piece.
    fileprivate func write(to file: URL) async throws {
        let path = file.path(percentEncoded: false)
        guard FileManager.default.createFile(atPath: path, contents: nil) else {
            throw NSError(
                domain: NSURLErrorDomain, code: NSURLErrorCannotCreateFile, userInfo: [NSFilePathErrorKey: path])
        }
        do {
            let handle = try FileHandle(forWritingTo: file)
            defer { try? handle.close() }
            guard var reader = try self?.makeReader() else { return }
            while let piece = try await reader.next() { try handle.write(contentsOf: piece) }
        } catch {
            try? FileManager.default.removeItem(at: file)
            throw error
        }
    }
}
