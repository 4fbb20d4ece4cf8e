public import FoundationEssentials
public import LinnetSerialization

// Handles on a call: suspended, with progress, events, callbacks, and a place among the session's tasks. Nothing is
// sent until ``TransferTask/resume()``, or until the value is awaited. The handle of an invalid call fails then.
extension HTTPCall {
    /// Makes a handle on the call, and reads its response by a serializer: `call.task(.string)`.
    public func task<S: ResponseSerializer>(_ serializer: S) -> TransferTask<S.Value> {
        prepared(
            session.task(
                for: made(), kind: content.isUpload ? .upload : .data, additions: extras?.value.additions,
                serializer: serializer)
        )
    }

    /// Makes a handle on the call, whose response has the unchanged body.
    public func task() -> TransferTask<Data> { task(DataResponseSerializer()) }

    /// Makes a handle on the call, whose response has the unchanged body, for other modules of the package: their calls
    /// of the generic function would not be specialized.
    package func dataTask(validation: ResponseValidation) -> TransferTask<Data> {
        task(DataResponseSerializer(validation: validation))
    }

    /// Makes a handle on the call, whose JSON body is decoded as a type.
    public func task<T: Decodable & Sendable>(as type: T.Type) -> TransferTask<T> {
        acceptingJSON().task(session.initialConfiguration.serializer(for: type))
    }

    /// Makes a handle on the call, whose body is read as JSON; its value is nil for an empty body.
    public func jsonTask() -> TransferTask<JSONValue?> {
        acceptingJSON().task(session.initialConfiguration.responseSerializer)
    }

    /// Makes a handle on a response that is read as it arrives, from ``TransferTask/response``.
    ///
    /// - Parameter validation: The responses to accept, as for ``bytes(validation:)``: the task fails with another one.
    ///   The default is a status of 200 to 299 with any content type.
    public func streamTask(validation: ResponseValidation = ResponseValidation()) -> StreamTask {
        prepared(session.streamTask(for: made(), additions: extras?.value.additions, validation))
    }

    func made() -> Result<SessionRequest, SessionError> {
        Result { () throws(SessionError) in try request() }
    }

    func prepared<Value>(_ task: TransferTask<Value>) -> TransferTask<Value> {
        if let hooks = extras?.value.hooks { task.hooks = hooks }
        return task
    }
}
