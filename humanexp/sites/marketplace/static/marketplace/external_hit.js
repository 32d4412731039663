// For pages sent along as HTMLQuestion: they call these two by name, as at the real service.
function turkGetParam(name, otherwise = "") {
  return new URLSearchParams(location.search).get(name) ?? otherwise;
}

function turkSetAssignmentID(formName = "mturk_form") {
  const assignmentId = turkGetParam("assignmentId");
  const form = document.getElementById(formName);
  const field = form?.querySelector("[name=assignmentId]") ?? document.getElementById("assignmentId");
  if (field) field.value = assignmentId;
  if (assignmentId !== "ASSIGNMENT_ID_NOT_AVAILABLE") return true;
  for (const button of form?.querySelectorAll("[type=submit]") ?? []) {
    button.disabled = true;
    button.value = "Accept this task first";
  }
  return true;
}
