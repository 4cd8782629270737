/** ClickHouse's error codes that are told apart here. Their names stand in its src/Common/ErrorCodes.cpp. */

/** The rows can't be read: sending the same bytes again will fail again. */
export const dataErrorCodes: ReadonlySet<number> = new Set([
  6, // CANNOT_PARSE_TEXT
  26, // CANNOT_PARSE_QUOTED_STRING
  27, // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  33, // CANNOT_READ_ALL_DATA
  53, // TYPE_MISMATCH
  69, // ARGUMENT_OUT_OF_BOUND
  117, // INCORRECT_DATA
  128, // TOO_LARGE_ARRAY_SIZE
  131, // TOO_LARGE_STRING_SIZE
  321, // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
  349, // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
  469, // VIOLATED_CONSTRAINT
  691, // UNKNOWN_ELEMENT_OF_ENUM
])

/** FUNCTION_THROW_IF_VALUE_IS_NON_ZERO: a statement's own condition refused it. */
export const thrownByCondition = 395

/** The server can't now, or couldn't finish: too busy, no memory or disk left, shutting down, a replica away. */
const serverErrorCodes: ReadonlySet<number> = new Set([
  3, // UNEXPECTED_END_OF_FILE
  74, // CANNOT_READ_FROM_FILE_DESCRIPTOR
  75, // CANNOT_WRITE_TO_FILE_DESCRIPTOR
  76, // CANNOT_OPEN_FILE
  77, // CANNOT_CLOSE_FILE
  88, // CANNOT_TRUNCATE_FILE
  107, // FILE_DOESNT_EXIST
  159, // TIMEOUT_EXCEEDED
  173, // CANNOT_ALLOCATE_MEMORY
  198, // DNS_ERROR
  201, // QUOTA_EXCEEDED
  202, // TOO_MANY_SIMULTANEOUS_QUERIES
  203, // NO_FREE_CONNECTION
  204, // CANNOT_FSYNC
  209, // SOCKET_TIMEOUT
  210, // NETWORK_ERROR
  216, // QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING
  225, // NO_ZOOKEEPER
  232, // NO_FILE_IN_DATA_PART
  236, // ABORTED
  241, // MEMORY_LIMIT_EXCEEDED
  242, // TABLE_IS_READ_ONLY
  243, // NOT_ENOUGH_SPACE
  244, // UNEXPECTED_ZOOKEEPER_ERROR
  252, // TOO_MANY_PARTS
  279, // ALL_CONNECTION_TRIES_FAILED
  285, // TOO_FEW_LIVE_REPLICAS
  286, // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
  289, // REPLICA_IS_NOT_IN_QUORUM
  290, // LIMIT_EXCEEDED
  319, // UNKNOWN_STATUS_OF_INSERT
  341, // UNFINISHED
  394, // QUERY_WAS_CANCELLED
  425, // SYSTEM_ERROR
  439, // CANNOT_SCHEDULE_TASK
  473, // DEADLOCK_AVOIDED
  499, // S3_ERROR
  516, // AUTHENTICATION_FAILED: a password changed, or not set yet
  745, // SERVER_OVERLOADED
  999, // KEEPER_EXCEPTION
  1000, // POCO_EXCEPTION
  1001, // STD_EXCEPTION
])

/** True where asking again later may succeed with nothing changed by the asker. */
export function isServersFault(code: number): boolean {
  return serverErrorCodes.has(code)
}
