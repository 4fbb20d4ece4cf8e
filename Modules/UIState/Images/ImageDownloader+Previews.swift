internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSession
internal import Synchronization

extension ImageDownloader {
    /// Reads a response as it arrives, and delivers previews of it.
    func collect(
        _ streamed: StreamedResponse, for id: Queue.LoadID, _ decoder: @Sendable (SerializedResponse) -> Image?
    ) async throws(SessionError) -> SessionResponse<Data> {
        let limit = session.configuration.maximumBodySize
        var body = Data()
        var nextPreview = 4096
        var chunks = streamed.body.makeAsyncIterator()
        while let chunk = try await chunks.next() {
            guard chunk.count <= limit - body.count else {
                throw SessionError(
                    .bodyTooLarge, "The image has more than \(limit) bytes.", url: streamed.url)
            }
            body.append(chunk)
            guard body.count >= nextPreview, streamed.status.kind == .successful else { continue }
            nextPreview = body.count * 2
            preview(
                SerializedResponse(url: streamed.url, head: streamed.head, body: body, requestMethod: .get), id, decoder
            )
        }
        var response = streamed.map { _ in body }
        response.data = body
        return response
    }

    /// Decodes a preview, unless all decodings are in use.
    private func preview(
        _ part: SerializedResponse, _ id: Queue.LoadID, _ decoder: @Sendable (SerializedResponse) -> Image?
    ) {
        guard state.withLock({ $0.queue.beginPreview() }) else { return }
        let image = decoder(part)
        let downloads = state.withLock { state in
            state.queue.tickets(of: id).compactMap { state.downloads[$0] }
        }
        if let image { for download in downloads { download.deliver(preview: image) } }
        advance { state in
            state.queue.endPreview()
            return []
        }
    }
}
