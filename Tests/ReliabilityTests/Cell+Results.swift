extension Cell {
    /// The right results: `value`, or the codes of errors.
    var allowedResults: Set<String> {
        // The exchange goes on.
        if effect == .slow || effect == .goAway { return ["value"] }
        // It has ended before, but a reset can discard what the client has not read yet.
        if trigger == .idle { return effect == .reset ? ["value", "connectionLost"] : ["value"] }
        // A session that retries repeats what is idempotent, unless the answer was no HTTP. The head of a stream and of
        // a download may have been delivered before the fault; a background transfer goes on from there.
        if kind == .background { return effect == .garbage ? ["value", "transferFailed"] : ["value"] }
        if kind == .data, retries, effect != .garbage { return ["value"] }
        return mayEndWell ? errors.union(["value"]) : errors
    }

    private var mayEndWell: Bool {
        // A request that was not sent is sent on another connection. A stalled one may have been read.
        if (trigger == .accept || trigger == .hello) && effect != .stall { return true }
        // The answer to an upload is shorter than the offset of the fault, and complete by its length.
        if kind == .upload { return version == .http1 && (trigger == .responseBody || trigger == .responseEnd) }
        return retries
    }

    private var errors: Set<String> {
        switch effect {
        case .stall: kind == .webSocket && isAfterHead ? ["pongTimeout"] : ["timeout"]
        case .garbage where kind == .webSocket && isAfterHead: ["connectionLost", "protocolViolation", "tlsFailed"]
        // The end of the connection can be noticed before its last bytes are read, where the client still sends.
        case .garbage: ["invalidResponse", "tlsFailed", "connectionLost"]
        case .reset where trigger == .accept: ["connectionLost", "connectionFailed"]
        default: ["connectionLost"]
        }
    }

    private var isAfterHead: Bool { trigger == .responseBody || trigger == .responseEnd }
}
