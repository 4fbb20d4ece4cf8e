/// What a multipart body may cost that somebody else made.
public struct MultipartLimits: Sendable, Hashable, Codable {
    /// How many parts there may be, those of nested bodies included; the default is 1,000. One more is
    /// ``MultipartError/Code/tooManyParts``.
    public var maximumPartCount = 1000
    /// How many bytes a part's header may have, the line ends included; the default is 16,384. More are
    /// ``MultipartError/Code/headerTooLarge``.
    public var maximumHeaderBytes = 16 * 1024
    /// How many fields a part's header may have; the default is 64. One more is
    /// ``MultipartError/Code/tooManyHeaderFields``. Numbers above 10,000 are taken for it.
    public var maximumHeaderFieldCount = 64
    /// How many multipart bodies may stand in each other where nested ones are read, the outermost included; the default
    /// is 4. One more is ``MultipartError/Code/nestedTooDeep``.
    public var maximumNesting = 4
    /// How many bytes the whole may have; the default is nil, for any number, since what is read is not kept. More are
    /// ``MultipartError/Code/bodyTooLarge``.
    public var maximumTotalBytes: Int64?

    /// The defaults.
    public init() {}
}
