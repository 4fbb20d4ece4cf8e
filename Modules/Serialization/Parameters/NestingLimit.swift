/// How deep parameters may be nested, so that writing them cannot use up a thread's stack.
enum NestingLimit {
    static let parameters = 512

    static func check(_ depth: Int) throws(SerializationError) {
        guard depth <= parameters else {
            throw SerializationError(
                code: .nestedTooDeep,
                message: "The value is nested deeper than \(parameters) levels."
            )
        }
    }
}
