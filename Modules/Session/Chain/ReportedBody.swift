internal import FoundationEssentials
internal import LinnetSerialization
internal import NIOCore

/// The body of a response in the hands of a caller: its errors tell of the response, and its end is reported.
final class ReportedBody: Sendable {
    let response: StreamedResponse
    private let report: StreamReport?

    init(_ response: StreamedResponse, report: StreamReport?) {
        self.response = response
        self.report = report
    }

    func ended() {
        report?.complete(nil, response.metrics)
    }

    func failed(_ error: SessionError) -> SessionError {
        let error = error.adding(response)
        report?.complete(error, response.metrics)
        return error
    }
}

struct ReportedSource: ResponseBodySource {
    private var iterator: ResponseBody.Iterator
    private let body: ReportedBody

    init(_ body: ReportedBody) {
        iterator = body.response.body.makeAsyncIterator()
        self.body = body
    }

    mutating func next() async throws(SessionError) -> Data? {
        do {
            let chunk = try await iterator.next()
            if chunk == nil { body.ended() }
            return chunk
        } catch {
            throw body.failed(error)
        }
    }
}

extension Response where Value == ResponseBody {
    /// The response for a caller, whose end is reported.
    func reporting(to report: StreamReport? = nil) -> StreamedResponse {
        var response = self
        response.body = .reported(ReportedBody(self, report: report))
        return response
    }

    /// The error for a response that a validation refuses, with the first bytes of its body; ends the response.
    func refused(_ refusal: SerializationError) async -> SessionError {
        var refusal = refusal
        let reported = body.reported
        var batches = (reported?.response.body ?? body).makeAsyncIterator()
        refusal.response?.body = await batches.collectErrorBody()
        let error = SessionError(refusal, url: url)
        return reported?.failed(error) ?? error.adding(self)
    }
}
