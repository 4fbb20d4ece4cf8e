internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetCache
internal import LinnetTransport

extension CacheWork {
    /// Returns the server's response. If the rules allow it, the body is stored while the caller reads it.
    func keeping(_ received: Received, _ flight: Flight) async throws(SessionError) -> StreamedResponse {
        var response = received.response
        note(.miss, in: &response)
        guard head.method == .get else {
            await apply(received)
            return response
        }
        let superseded = rules.superseded(by: response.head, to: head, among: visit.stored)
        guard let (recorder, body) = try await recorder(of: received, replacing: superseded, flight.hooks) else {
            await remove(superseded)
            return response
        }
        // The check follows the beginning of the entry, because a later invalidation ends the entry itself.
        guard !link.invalidations.include(visit.key, since: received.invalidations) else {
            await recorder.abandon()
            return response
        }
        if let whole = body ?? response.body.whole {
            await recorder.append(whole)
            await recorder.commit()
        } else {
            // The reader learns from the head that the old responses are outdated, and may leave before the end. A
            // refresh has no reader, so they answer until it is stored.
            if !visit.isRefresh { await remove(superseded) }
            response.body = HTTPResponseBody(RecordedBody(base: response.body, recorder: recorder))
        }
        return response
    }

    /// Applies a response to HEAD to stored responses.
    private func apply(_ received: Received) async {
        let consequences = rules.consequences(
            ofHead: received.response.head, to: head, among: visit.stored, requestTime: received.requestTime,
            responseTime: received.responseTime)
        for response in consequences.updated { try? await store.update(response) }
        await remove(consequences.removed)
    }

    /// Returns the recorder of the response, and the body to store if it is not the response's; nil if nothing must be
    /// stored. Throws the hook's error.
    private func recorder(
        of received: Received, replacing superseded: [StoredResponse.ID], _ hooks: RequestHooks?
    ) async throws(SessionError) -> (EntryRecorder, body: Data?)? {
        let response = received.response
        // A challenge concerns only its own request: a stored one would also answer the request with credentials.
        guard response.head.status != .unauthorized, response.provesItsEnd, var entry = entry(response.head, received)
        else { return nil }
        switch try await hooks?.willCacheResponse(response.head) {
        case nil, .store: break
        case .doNotStore: return nil
        case .storeAs(var changed, let body):
            if let body { changed.headerFields[.contentLength] = String(body.count) }
            guard let changed = self.entry(changed, received) else { return nil }
            guard let body else {
                entry = changed
                break
            }
            let length = Int64(body.count)
            return await EntryRecorder.make(changed, length: length, replacing: superseded, in: store).map {
                ($0, body)
            }
        }
        return await recorder(of: entry, response, replacing: superseded).map { ($0, nil) }
    }

    private func entry(_ response: HTTPResponse, _ received: Received) -> StoredResponse? {
        rules.entry(
            for: response, to: head, key: visit.key, requestTime: received.requestTime,
            responseTime: received.responseTime)
    }

    private func recorder(
        of entry: StoredResponse, _ response: StreamedResponse, replacing superseded: [StoredResponse.ID]
    ) async -> EntryRecorder? {
        let length = entry.part.map { Int64($0.range.count) } ?? response.head.bodyLength(answering: head.method)
        for candidate in visit.stored {
            guard let combined = rules.combination(of: entry, response.head, with: candidate) else { continue }
            // The stored bytes are worth more than the new ones, and stay.
            guard combined.isProportionate else {
                try? await store.update(combined.updating(candidate))
                return nil
            }
            guard let body = (try? await store.body(of: candidate.id)) ?? nil else { continue }
            return await EntryRecorder.make(
                combined.entry, combined.pieces, body, of: candidate.id, length: length, replacing: superseded,
                in: store
            )
        }
        return await EntryRecorder.make(entry, length: length, replacing: superseded, in: store)
    }
}

extension StreamedResponse {
    /// Whether a truncated body can be distinguished from a complete one: over HTTP/1.1 it has a length or is chunked,
    /// and does not end with its connection (RFC 9112, section 8).
    fileprivate var provesItsEnd: Bool {
        guard let version = attempts.last?.httpVersion, version.hasPrefix("http/1") else { return true }
        let fields = head.headerFields
        return head.status.code == 204 || fields.contains(.contentLength) || fields.contains(.transferEncoding)
    }
}
