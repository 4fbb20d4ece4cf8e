internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization
internal import LinnetTransport
internal import NIOCore

extension Engine {
    /// The most of an error page that ends up in an error: 1 MiB.
    private static let errorBodyLimit = 1024 * 1024

    /// Sends a request, and writes the body of its response to a file.
    func download(
        _ request: Request, to destination: DownloadDestination, sink: (any EngineSink)? = nil,
        hooks: RequestHooks? = nil
    ) async throws(SessionError) -> Response<URL> {
        try await onFileThreads { () async throws(SessionError) in
            try fileStep(request.url) { () throws(FileFailure) in try destination.check() }
        }
        let response = try await run(request, delivery: .streamed, sink: sink, hooks: hooks)
        let watching = hooks.map { $0.watching(sink, isDownload: true) } ?? sink
        let saved = try await save(response, answering: request, to: destination, watching)
        hooks?.didFinishDownload(saved.value)
        return saved
    }

    /// Writes the body of a response that is there to a file.
    func save(
        _ response: EngineResponse, answering request: Request, to destination: DownloadDestination,
        _ sink: (any EngineSink)? = nil
    ) async throws(SessionError) -> Response<URL> {
        do {
            let path = try await onFileThreads { () async throws(SessionError) in
                try await save(response, answering: request.method, to: destination, sink)
            }
            var saved = Response(
                value: URL(filePath: path), url: response.url, head: response.head, metrics: response.finalAttempts)
            saved.redirects = response.redirects
            return saved
        } catch {
            throw error.adding(response)
        }
    }

    /// The way of the bytes: a batch is taken from the connection, which is read on while the batch is written.
    private func save(
        _ response: EngineResponse, answering method: HTTPRequest.Method, to destination: DownloadDestination,
        _ sink: (any EngineSink)?
    ) async throws(SessionError) -> String {
        let length = response.head.bodyLength(answering: method)
        sink?.willReceiveBody(length: length)
        var batches = response.body.makeAsyncIterator()
        try await sink.passGate(response.url)
        var batch = try await batches.nextBatch()
        try await validate(response, destination.options.validation, beginning: batch, &batches)
        let file = try fileStep(response.url) { () throws(FileFailure) in try destination.makePartialFile() }
        do throws(SessionError) {
            while let buffers = batch {
                try fileStep(response.url) { () throws(FileFailure) in try file.write(buffers) }
                sink?.didReceiveBody(bytes: buffers.reduce(0) { $0 + $1.readableBytes })
                if let length, file.size > length { throw .wrongLength(length, file.size, response) }
                try await sink.passGate(response.url)
                batch = try await batches.nextBatch()
            }
            if let length, file.size < length { throw .wrongLength(length, file.size, response) }
            return try fileStep(response.url) { () throws(FileFailure) in try destination.take(file) }
        } catch {
            file.discard()
            throw error
        }
    }

    /// Judges a response by its head and by whether it has a body; the body of one that is refused goes into the error.
    private func validate(
        _ response: EngineResponse, _ validation: ResponseValidation, beginning first: CircularBuffer<ByteBuffer>?,
        _ batches: inout ResponseBody.Iterator
    ) async throws(SessionError) {
        let beginning = first?.first.map { Data($0) } ?? Data()
        do {
            try validation.validate(SerializedResponse(url: response.url, head: response.head, body: beginning))
        } catch {
            let body = await collectErrorBody(first, &batches)
            var refusal = error
            refusal.response?.body = body
            throw SessionError(refusal, url: response.url)
        }
    }

    private func collectErrorBody(
        _ first: CircularBuffer<ByteBuffer>?, _ batches: inout ResponseBody.Iterator
    ) async -> Data {
        var body = Data()
        var batch = first
        while let buffers = batch {
            for buffer in buffers {
                body.append(contentsOf: buffer.readableBytesView.prefix(Self.errorBodyLimit - body.count))
            }
            guard body.count < Self.errorBodyLimit else { break }
            // The refusal counts, not that its page broke off.
            batch = (try? await batches.nextBatch()) ?? nil
        }
        return body
    }

    private func fileStep<Value>(
        _ url: URL, _ body: () throws(FileFailure) -> Value
    ) throws(SessionError) -> Value {
        do {
            return try body()
        } catch {
            throw SessionError(error, url: url)
        }
    }
}

/// Runs what may block on a file, away from the caller's executor.
@concurrent
private func onFileThreads<Value: Sendable>(
    _ body: @Sendable () async throws(SessionError) -> Value
) async throws(SessionError) -> Value {
    try await withTaskExecutorPreference(FileExecutor.shared, operation: body)
}

extension (any EngineSink)? {
    /// Returns when bytes may flow.
    fileprivate func passGate(_ url: URL) async throws(SessionError) {
        guard let self else { return }
        do {
            try await self.passGate()
        } catch {
            throw SessionError(thrown: error, url: url)
        }
    }
}

extension SessionError {
    fileprivate static func wrongLength(_ length: Int64, _ size: Int64, _ response: EngineResponse) -> SessionError {
        SessionError(
            size < length ? .connectionLost : .invalidResponse,
            "The response's body has \(size < length ? "fewer" : "more") than the \(length) bytes it promised.",
            url: response.url)
    }
}
